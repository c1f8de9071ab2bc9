-- Schema version 14: all boards of an attempt (their serials with commas between them, the first one
-- first), and the mesh that they formed: '2x4', or '1x4 of 2x4' of a program on less than its own.
alter table attempts add column boards text not null default '';
alter table attempts add column mesh   text not null default '';
update attempts set boards = board;
-- And what an attempt began from: 'disk', 'memory', or nothing that is known.
alter table attempts add column source text not null default '';

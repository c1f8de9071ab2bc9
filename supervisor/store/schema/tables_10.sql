-- Schema version 10: how well a step used what it ran on, where its worker tells it. mfu and
-- communication are shares (0 to 1), memory is in bytes, of the fullest of the devices.
alter table steps add column mfu real;
alter table steps add column communication real;
alter table steps add column device_memory integer;
alter table steps add column device_memory_limit integer;

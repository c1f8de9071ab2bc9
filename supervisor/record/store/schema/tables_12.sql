-- Schema version 12: how long a step waited for its data, in milliseconds; null: not told.
alter table steps add column input_wait_ms real;

-- +goose Up

-- The machine's clock, and the clock since its boot, when last_seen was written: by them a
-- process knows how much time passed since. 0 and '' where nothing wrote them yet.
ALTER TABLE server ADD COLUMN wall INTEGER NOT NULL DEFAULT 0;
ALTER TABLE server ADD COLUMN boot TEXT NOT NULL DEFAULT '';
ALTER TABLE server ADD COLUMN since_boot INTEGER NOT NULL DEFAULT 0;

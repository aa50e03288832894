import { integer } from './setting.ts'

/**
 * Limits of the event log on the disk. When either limit is reached, the oldest part is deleted. Reducing a limit
 * deletes events.
 */
export const eventSettings = {
  days: integer(
    { range: [1, 3_650], unit: 'days', default: 90 },
    { card: 'events', order: 1, access: 'person', restarts: 'nothing' },
  ),
  megabytes: integer(
    { range: [20, 100_000], unit: 'MB', default: 200 },
    { card: 'events', order: 2, access: 'person', restarts: 'nothing' },
  ),
}

/** Limits of automatic backups. Backups that the operator creates or pins are kept until the operator deletes them. */
export const backups = {
  /** Maximum number of backups; beyond this number, the oldest are deleted. */
  count: integer(
    { range: [1, 100], unit: 'count', default: 5 },
    { card: 'backups', order: 1, access: 'person', restarts: 'nothing' },
  ),
  /** Maximum age of a backup, except the newest one; 0: no limit. */
  days: integer(
    { range: [0, 3_650], unit: 'days', default: 0 },
    { card: 'backups', order: 2, access: 'person', restarts: 'nothing' },
  ),
}

/**
 * Pictures of joined cameras, stored in the data folder. Off by default, because the pictures show places and people,
 * and need disk space.
 */
export const pictures = {
  /** Interval between two pictures of a camera; 0: no pictures are taken. */
  every_minutes: integer(
    { range: [0, 1_440], unit: 'minutes', default: 0 },
    { card: 'pictures', order: 1, access: 'person', restarts: 'nothing' },
  ),
  /** Maximum number of pictures per camera; beyond this number, the oldest are deleted. */
  per_camera: integer(
    { range: [1, 500], unit: 'count', default: 24 },
    { card: 'pictures', order: 2, access: 'person', restarts: 'nothing' },
  ),
  /** Maximum size of all pictures; beyond this size, the oldest are deleted. */
  megabytes: integer(
    { range: [10, 1_000_000], unit: 'MB', default: 1_000 },
    { card: 'pictures', order: 3, access: 'person', restarts: 'nothing' },
  ),
  /** Maximum age of a picture. */
  days: integer(
    { range: [1, 365], unit: 'days', default: 7 },
    { card: 'pictures', order: 4, access: 'person', restarts: 'nothing' },
  ),
}

export const trash = {
  /**
   * Number of days for which deleted objects can be restored; 0: objects are deleted permanently at once. A change
   * applies only to later deletions.
   */
  days: integer(
    { range: [0, 90], unit: 'days', default: 7 },
    { card: 'trash', order: 1, access: 'person', restarts: 'nothing' },
  ),
}

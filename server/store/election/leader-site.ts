import { wallClock } from '../system/time.ts'
import { roomNumberGap } from '../files/recovery.ts'
import { Losses } from '../files/losses.ts'
import { type Migrations, migrations as knownMigrations } from '../migrations.ts'
import { Notices } from '../notices.ts'
import type { StoreOptions } from '../store-options.ts'
import type { StoreNotice } from '../store.ts'
import type { DatabaseAddress } from '../postgres/database-address.ts'
import { DatabaseStorage } from '../postgres/database-storage.ts'
import { SharedBackups } from '../backups/shared-backups.ts'
import { firstBlock, type WonTerm } from './leader.ts'
import { DatabaseStore } from './database-store.ts'
import type { JournalTrail } from './journal-trail.ts'
import type { Lease } from './lease.ts'
import type { Link } from '../postgres/link.ts'
import { RoomNumberBlocks, type RoomNumberRecord } from '../postgres/room-number-blocks.ts'
import type { DatabaseState } from '../postgres/read-state.ts'
import { defaultDeadlines, DatabaseSession } from '../postgres/database-session.ts'

/** State of a controller that becomes leader. */
export interface LeaderSite {
  address: DatabaseAddress
  session: DatabaseSession
  won: WonTerm
  read: DatabaseState
  /** Number of the last stored line; lower than the last line in memory if the database has lost lines. */
  stored: number
  /** Origin of the lines in memory. */
  trail: JournalTrail
  found: StoreNotice[]
  roomNumbers: RoomNumberRecord
  unlock: () => Promise<void>
  /** Left out: there are no other controllers. */
  lease?: (link: Link) => Lease
}

/** Opens the store of the leader. The state in `site.read` must contain everything that is stored. */
export async function openLeaderSite(options: StoreOptions, site: LeaderSite): Promise<DatabaseStore> {
  const { folder, sealer, logger, clock = wallClock, migrations = knownMigrations } = options
  const { databaseDeadlines: deadlines = defaultDeadlines } = options
  const { address, session, won, read, roomNumbers: record, unlock } = site
  const found = [...site.found, ...noticesOf(read, address, migrations, clock())]
  const notices = new Notices(logger)
  for (const notice of found) notices.add(notice)
  const losses = await Losses.open(folder, found)
  if (read.lost > 0) await losses.keep(logger)
  const { state } = read
  const reserved = won.roomNumbers
  const given = Math.max(reserved - firstBlock, read.roomNumber, record.highest)
  await record.keep(Math.max(reserved, given))
  const roomNumbers = { last: given + (read.lost > 0 ? roomNumberGap : 0) }
  const storage = new DatabaseStorage({
    address,
    deadlines,
    session,
    won,
    state,
    version: migrations.current,
    roomNumbers: new RoomNumberBlocks(roomNumbers, reserved, record),
    clock,
    last: read.last,
    lastTerm: read.lastTerm,
    trail: site.trail,
    journalBytes: read.journalBytes,
    snapshotBytes: read.snapshotBytes,
    snapshotAt: read.snapshotAt === 0 ? clock() : read.snapshotAt,
    onMadeGood: (lines) => {
      const changes = lines === 1 ? 'one confirmed change: it was' : `${lines} confirmed changes: they were`
      const message = `The database had come back without ${changes} in this controller’s memory, and stored again.`
      notices.add({ level: 'warning', at: clock(), code: 'recovered', message })
    },
  })
  const lease = site.lease?.(storage.link)
  try {
    await storage.bringUp(site.stored)
  } catch (error) {
    lease?.end()
    throw error
  }
  const store = new DatabaseStore({
    folder,
    state,
    storage,
    snapshotAfterBytes: options.snapshotAfterBytes,
    backupEveryMs: options.backupEveryMs,
    sealer,
    notices,
    losses,
    clock,
    deadlineMs: options.deadlineMs,
    flushGate: options.flushGate,
    migrations,
    roomNumbers,
    unlock,
    onError: (error) => logger?.error({ err: error }, 'unexpected error in the store'),
    ...(lease === undefined ? {} : { lease }),
    shareBackups: (kept, retention) =>
      new SharedBackups({
        ...{ folder, kept, sealer, retention, clock },
        compares: options.backupEveryMs !== Number.POSITIVE_INFINITY,
        connect: (answer) => DatabaseSession.open(address, { ...deadlines, answer }),
        onError: (error) =>
          logger?.warn({ err: error }, 'Backups are not stored in the database now: it is tried again.'),
      }),
  })
  // Rewrites records of an earlier version or with damage; a failure shows in the status.
  if (read.oldest !== migrations.current || read.lost > 0 || read.fellBack) store.snapshots.run().catch(() => undefined)
  return store
}

function noticesOf(
  { lost, fellBack, oldest }: DatabaseState,
  { shown }: DatabaseAddress,
  { current }: Migrations,
  at: number,
): StoreNotice[] {
  const notices: StoreNotice[] = []
  if (fellBack) {
    const message = `The newest snapshot in the database ${shown} was damaged: the one before it and the journal were read, nothing was lost.`
    notices.push({ level: 'warning', at, code: 'recovered', message })
  }
  if (lost > 0) {
    const changes = lost === 1 ? 'One confirmed change is' : `${lost} confirmed changes are`
    const message = `${changes} missing or damaged in the journal of the database ${shown}.`
    notices.push({ level: 'warning', at, code: 'damaged', message, lost: true })
  }
  if (oldest !== current) {
    const message = `The records in the database ${shown} were brought from version ${oldest} to ${current}.`
    notices.push({ level: 'info', at, code: 'migrated', message })
  }
  return notices
}

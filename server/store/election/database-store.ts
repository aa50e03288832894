import { SharedBackups } from '../backups/shared-backups.ts'
import { notStored, storageError } from '../storage.ts'
import { DurableStore, type DurableStoreOptions } from '../durable/durable-store.ts'
import { roomNumberGap } from '../files/recovery.ts'
import { confirmedViewOf } from '../leadership.ts'
import { type Migrations, migrations as knownMigrations } from '../migrations.ts'
import { Notices } from '../notices.ts'
import { Losses } from '../files/losses.ts'
import type { DatabaseAddress } from '../postgres/database-address.ts'
import { HandedOverError } from '../postgres/database-error.ts'
import { DatabaseSession, defaultDeadlines } from '../postgres/database-session.ts'
import { DatabaseStorage } from '../postgres/database-storage.ts'
import type { Link } from '../postgres/link.ts'
import type { DatabaseState } from '../postgres/read-state.ts'
import { RoomNumberBlocks, type RoomNumberRecord } from '../postgres/room-numbers.ts'
import type { StoreOptions } from '../store-options.ts'
import type { Leadership, StoreNotice } from '../store.ts'
import { inTime, wallClock } from '../system/time.ts'
import { firstBlock, nameSuccessor, type WonTerm } from './leader.ts'
import type { Lease } from './lease.ts'
import type { FencedStore, KnownController } from './site-member.ts'
import type { JournalTrail } from './term-history.ts'

/** The store of the leader of a site in a database. */
export class DatabaseStore extends DurableStore implements FencedStore {
  readonly storage: DatabaseStorage
  readonly #lease: Lease | undefined
  readonly #leadership: Leadership | undefined

  /** @param options `lease` left out: there are no other controllers, and the lock alone proves the leadership */
  constructor(options: DurableStoreOptions & { storage: DatabaseStorage; lease?: Lease }) {
    super(options)
    this.storage = options.storage
    this.#lease = options.lease
    this.#leadership = options.lease === undefined ? undefined : leadershipBy(this, options.lease)
  }

  override get leadership(): Leadership {
    return this.#leadership ?? super.leadership
  }

  get epoch(): string {
    return this.storage.link.term.epoch
  }

  get fenced(): Promise<Error> {
    return this.storage.link.whenFenced
  }

  confirmed(): Promise<void> | undefined {
    const unsure = this.#lease?.confirmed()
    if (unsure === undefined) return undefined
    const reason = 'the database does not confirm that this controller leads'
    return inTime(unsure, this.deadlineMs, () => notStored(reason), false)
  }

  /**
   * Hands over to another controller: stores pending changes, names the successor, and stores nothing afterwards.
   * @param forMs how long other controllers wait for the successor, in milliseconds
   * @throws ApiError 'storage' when the changes or the successor cannot be stored in time; this controller then
   * continues to lead
   */
  async handOver(to: KnownController, forMs: number, deadlineMs: number): Promise<void> {
    const { link } = this.storage
    const resume = await this.holdChanges(deadlineMs)
    try {
      const { session, term } = link.current()
      // Reads stop first: the successor may answer requests at once.
      const goOn = this.#lease?.pause()
      try {
        if (!(await nameSuccessor(session, term, to.id, forMs, this.storage.roomNumber)))
          throw new Error('another controller leads already')
      } catch (error) {
        goOn?.()
        throw error
      }
      link.fence(new HandedOverError(to.name, { ...to, role: 'leader' }), session)
    } catch (error) {
      throw storageError(error)
    } finally {
      resume()
    }
  }

  protected override isFollowed(): boolean {
    return this.#lease?.others ?? false
  }

  override close(): Promise<void> {
    this.#lease?.end()
    return super.close()
  }
}

/** Returns the leadership of a store with a lease: another controller may take over. */
function leadershipBy(store: DatabaseStore, { held }: Lease): Leadership {
  const view = confirmedViewOf(store)
  return {
    confirmed() {
      const unsure = store.confirmed()
      return unsure === undefined ? view : unsure.then(() => view)
    },
    get isHeld() {
      return held.isHeld
    },
    onChange: (listener) => held.onChange(listener),
    signal: () => held.signal(),
  }
}

/** State of a controller that becomes leader. */
interface LeaderSite {
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

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { IndexedSegment } from '../recording-index.ts'
import { number, segmentOf, wholeSegment } from './row.ts'
import { inIndexTransaction } from './index-tables.ts'
import { noteRemoval } from './write-statements.ts'

export interface PlaceSums {
  segments: number
  bytes: number
}

/**
 * Places of segments: pending uploads, files that may be removed from the disk, objects to delete.
 * @throws Error of SQLite
 */
export class ObjectPlaces {
  readonly #database: DatabaseSync
  readonly #waiting: StatementSync
  readonly #oldestWaiting: StatementSync
  readonly #willSend: StatementSync
  readonly #move: StatementSync
  readonly #forgetSent: StatementSync
  readonly #noteRemoval: StatementSync
  readonly #releasable: StatementSync
  readonly #sums: StatementSync
  readonly #ofRemovals: Record<'list' | 'remove' | 'count', StatementSync>

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#waiting = database.prepare(
      `${wholeSegment} WHERE segments.stored = 'local' AND segments.live = 0 ORDER BY segments.ended_at LIMIT ?`,
    )
    this.#oldestWaiting = database.prepare(
      "SELECT min(ended_at) AS ended_at FROM segments WHERE stored = 'local' AND live = 0",
    )
    this.#willSend = database.prepare('INSERT OR IGNORE INTO uploads (file) VALUES (?)')
    this.#move = database.prepare('UPDATE segments SET stored = ? WHERE id = ? AND stored = ?')
    this.#forgetSent = database.prepare('DELETE FROM uploads WHERE file = ?')
    this.#noteRemoval = database.prepare(noteRemoval)
    this.#releasable = database.prepare(
      `${wholeSegment} WHERE segments.stored = 'both' AND segments.live = 0 AND segments.ended_at < ? ORDER BY segments.ended_at LIMIT ?`,
    )
    this.#sums = database.prepare('SELECT stored, segments, bytes FROM places')
    this.#ofRemovals = {
      list: database.prepare("SELECT id, file FROM removals WHERE place = 'remote' ORDER BY id LIMIT ?"),
      remove: database.prepare("DELETE FROM removals WHERE id = ? AND place = 'remote'"),
      count: database.prepare("SELECT count(*) AS n FROM removals WHERE place = 'remote'"),
    }
  }

  /** Returns complete segments that are only on the disk, the oldest first. */
  waiting(limit: number): IndexedSegment[] {
    return this.#waiting.all(limit).map(segmentOf)
  }

  /** Returns the end of the oldest pending segment, in milliseconds since the epoch; 0 if none is pending. */
  get oldestWaiting(): number {
    const at = this.#oldestWaiting.get()?.ended_at
    return typeof at === 'number' ? at : 0
  }

  /**
   * Records that a file is about to be sent. If the program ends before `sent`, the object is still deleted together
   * with its segment.
   */
  willSend(file: string): void {
    this.#willSend.run(file)
  }

  /**
   * Records that the storage contains a segment. If the segment was deleted meanwhile, its object is queued for
   * removal.
   * @returns whether it is still in the index
   */
  sent({ id, file, bytes }: Pick<IndexedSegment, 'id' | 'file' | 'bytes'>): boolean {
    return inIndexTransaction(this.#database, () => {
      const isThere = this.#move.run('both', id, 'local').changes > 0
      if (!isThere) this.#noteRemoval.run(id, file, bytes, 'remote')
      this.#forgetSent.run(file)
      return isThere
    })
  }

  /**
   * Queues the local files of the oldest uploaded segments that ended before a moment for removal.
   * @returns number of segments, at most `limit`
   */
  release(before: number, limit: number): PlaceSums {
    return inIndexTransaction(this.#database, () => {
      const sums = { segments: 0, bytes: 0 }
      for (const segment of this.#releasable.all(before, limit).map(segmentOf)) {
        this.#move.run('remote', segment.id, 'both')
        this.#noteRemoval.run(segment.id, segment.file, segment.bytes, 'local')
        sums.segments += 1
        sums.bytes += segment.bytes
      }
      return sums
    })
  }

  /** Returns the sums by place. */
  sums(): Record<IndexedSegment['stored'], PlaceSums> {
    const sums = { local: none, both: none, remote: none }
    for (const row of this.#sums.all()) {
      const { stored } = row
      if (stored === 'local' || stored === 'both' || stored === 'remote')
        sums[stored] = { segments: number(row, 'segments'), bytes: number(row, 'bytes') }
    }
    return sums
  }

  /** Returns objects of deleted segments, the first deleted first. */
  removals(limit: number): { id: number; file: string }[] {
    return this.#ofRemovals.list.all(limit).map((row) => ({ id: number(row, 'id'), file: String(row.file) }))
  }

  /** Records that an object was deleted. */
  removed(id: number): void {
    this.#ofRemovals.remove.run(id)
  }

  /** Number of objects of deleted segments. */
  get waitingRemovals(): number {
    return number(this.#ofRemovals.count.get() ?? {}, 'n')
  }
}

const none: PlaceSums = { segments: 0, bytes: 0 }

import type { DatabaseSync } from 'node:sqlite'
import type { IndexedSegment } from '../recording-index.ts'
import type { IndexFile } from './index-file.ts'
import { number, segmentOf, wholeSegment } from './row.ts'
import { noteRemoval, selectFact, upsertFact } from './write-statements.ts'

export interface PlaceSums {
  segments: number
  bytes: number
}

/**
 * Places of segments: pending uploads, files that may be removed from the disk, objects to delete.
 * @throws Error of SQLite
 */
export class ObjectPlaces {
  readonly #file: IndexFile
  readonly #prepared: () => ReturnType<typeof placeStatements>

  constructor(file: IndexFile) {
    this.#file = file
    this.#prepared = file.prepared(placeStatements)
  }

  get #statements(): ReturnType<typeof placeStatements> {
    return this.#prepared()
  }

  /** Returns complete segments that are only on the disk, the oldest first. */
  waiting(limit: number): IndexedSegment[] {
    return this.#file.read(() => this.#statements.waiting.all(limit).map(segmentOf))
  }

  /** Returns the end of the oldest pending segment, in milliseconds since the epoch; 0 if none is pending. */
  get oldestWaiting(): number {
    const at = this.#file.read(() => this.#statements.oldestWaiting.get()?.ended_at)
    return typeof at === 'number' ? at : 0
  }

  /**
   * Records that a file is about to be sent. If the program ends before `sent`, the object is still deleted together
   * with its segment.
   */
  willSend(file: string): void {
    this.#file.write(() => this.#statements.willSend.run(file))
  }

  /**
   * Records that the storage contains a segment. If the segment was deleted meanwhile, its object is queued for
   * removal.
   * @returns whether the segment is still in the index
   */
  sent({ id, file, bytes }: Pick<IndexedSegment, 'id' | 'file' | 'bytes'>): boolean {
    return this.#file.write(() => {
      const isThere = this.#statements.move.run('both', id, 'local').changes > 0
      if (!isThere) this.#statements.noteRemoval.run(id, file, bytes, 'remote')
      this.#statements.forgetSent.run(file)
      return isThere
    })
  }

  /**
   * Queues the local files of the oldest uploaded segments that ended before a moment for removal.
   * @returns number and bytes of the segments; at most `limit` segments
   */
  release(before: number, limit: number): PlaceSums {
    return this.#file.write(() => {
      const sums = { segments: 0, bytes: 0 }
      for (const segment of this.#statements.releasable.all(before, limit).map(segmentOf)) {
        this.#statements.move.run('remote', segment.id, 'both')
        this.#statements.noteRemoval.run(segment.id, segment.file, segment.bytes, 'local')
        sums.segments += 1
        sums.bytes += segment.bytes
      }
      return sums
    })
  }

  /** Returns the sums by place. */
  sums(): Record<IndexedSegment['stored'], PlaceSums> {
    const sums = { local: none, both: none, remote: none }
    return this.#file.read(() => {
      for (const row of this.#statements.sums.all()) {
        const { stored } = row
        if (stored === 'local' || stored === 'both' || stored === 'remote')
          sums[stored] = { segments: number(row, 'segments'), bytes: number(row, 'bytes') }
      }
      return sums
    })
  }

  /** Returns objects of deleted segments, the first deleted first. */
  removals(limit: number): { id: number; file: string }[] {
    return this.#file.read(() =>
      this.#statements.removals.all(limit).map((row) => ({ id: number(row, 'id'), file: String(row.file) })),
    )
  }

  /** Records that an object was deleted. */
  removed(id: number): void {
    this.#file.write(() => this.#statements.remove.run(id))
  }

  /** Number of objects of deleted segments that still have to be deleted. */
  get waitingRemovals(): number {
    return this.#file.read(() => number(this.#statements.waitingRemovals.get() ?? {}, 'n'))
  }

  /** Returns a value about the folder and its object storage, e.g. the id of its site; undefined if it was never set. */
  fact(name: string): string | undefined {
    const value = this.#file.read(() => this.#statements.fact.get(name)?.value)
    return typeof value === 'string' ? value : undefined
  }

  setFact(name: string, value: string): void {
    this.#file.write(() => this.#statements.setFact.run(name, value))
  }
}

const none: PlaceSums = { segments: 0, bytes: 0 }

/** Prepares the statements about the places of segments. */
function placeStatements(database: DatabaseSync) {
  const prepare = (text: string) => database.prepare(text)
  return {
    waiting: prepare(
      `${wholeSegment} WHERE segments.stored = 'local' AND segments.live = 0 ORDER BY segments.ended_at LIMIT ?`,
    ),
    oldestWaiting: prepare("SELECT min(ended_at) AS ended_at FROM segments WHERE stored = 'local' AND live = 0"),
    willSend: prepare('INSERT OR IGNORE INTO uploads (file) VALUES (?)'),
    move: prepare('UPDATE segments SET stored = ? WHERE id = ? AND stored = ?'),
    forgetSent: prepare('DELETE FROM uploads WHERE file = ?'),
    noteRemoval: prepare(noteRemoval),
    releasable: prepare(
      `${wholeSegment} WHERE segments.stored = 'both' AND segments.live = 0 AND segments.ended_at < ? ORDER BY segments.ended_at LIMIT ?`,
    ),
    sums: prepare('SELECT stored, segments, bytes FROM places'),
    removals: prepare("SELECT id, file FROM removals WHERE place = 'remote' ORDER BY id LIMIT ?"),
    remove: prepare("DELETE FROM removals WHERE id = ? AND place = 'remote'"),
    waitingRemovals: prepare("SELECT count(*) AS n FROM removals WHERE place = 'remote'"),
    fact: prepare(selectFact),
    setFact: prepare(upsertFact),
  }
}

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import { growingTo } from '../../../shared/growing-cache.ts'
import type { RecordedStream, SegmentStart } from '../../../shared/recordings/segment.ts'
import { number } from './row.ts'

/** Maximum number of streams and of forms whose ids are cached. */
const maxHeld = 10_000

/** Ids of streams, forms and lacks, assigned at their first use. */
export class StreamIds {
  readonly #findStream: StatementSync
  readonly #addStream: StatementSync
  readonly #findForm: StatementSync
  readonly #addForm: StatementSync
  readonly #streams = new LRUCache<string, number>(growingTo(maxHeld))
  readonly #findLack: StatementSync
  readonly #addLack: StatementSync
  readonly #forms = new LRUCache<string, number>(growingTo(maxHeld))

  constructor(database: DatabaseSync) {
    this.#findStream = database.prepare(
      'SELECT id FROM streams WHERE room_id = ? AND user_id = ? AND source = ? AND quality = ?',
    )
    this.#addStream = database.prepare(
      `INSERT INTO streams (room_id, user_id, source, quality, user_name, topic, device, first_at, last_at, bytes, segments, kept_bytes, longest)
       VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0) RETURNING id`,
    )
    const form = 'container, video_codec, audio_codec, width, height, user_name, topic, device'
    this.#findForm = database.prepare(`SELECT id FROM forms WHERE (${form}) = (?, ?, ?, ?, ?, ?, ?, ?)`)
    this.#addForm = database.prepare(`INSERT INTO forms (${form}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`)
    this.#findLack = database.prepare('SELECT id FROM lacks WHERE tracks = ?')
    this.#addLack = database.prepare('INSERT INTO lacks (tracks) VALUES (?) RETURNING id')
  }

  /** Returns the id of a stream; undefined: the stream was never recorded. */
  find(stream: RecordedStream): number | undefined {
    const key = streamKey(stream)
    const held = this.#streams.get(key)
    if (held !== undefined) return held
    const row = this.#findStream.get(...columns(stream))
    if (row === undefined) return undefined
    const id = number(row, 'id')
    this.#streams.set(key, id)
    return id
  }

  /** Returns the id of a stream, and adds the stream if it is new. @param names stored for a new stream */
  ensure(stream: RecordedStream, names: { userName: string; topic: string; device: boolean }): number {
    const found = this.find(stream)
    if (found !== undefined) return found
    const { userName, topic, device } = names
    const id = number(this.#addStream.get(...columns(stream), userName, topic, device ? 1 : 0) ?? {}, 'id')
    this.#streams.set(streamKey(stream), id)
    return id
  }

  /** Returns the id of a segment's form: the values that a segment shares with other segments. */
  form(segment: SegmentStart): number {
    const { container, videoCodec, audioCodec, width, height, userName, topic, device } = segment
    const values = [container, videoCodec, audioCodec, width, height, userName, topic, device ? 1 : 0] as const
    const key = JSON.stringify(values)
    const held = this.#forms.get(key)
    if (held !== undefined) return held
    const id = number(this.#findForm.get(...values) ?? this.#addForm.get(...values) ?? {}, 'id')
    this.#forms.set(key, id)
    return id
  }

  /** Returns the id of the row that lists a segment's missing tracks; null: the segment has all tracks. */
  lack({ lacks }: SegmentStart): number | null {
    if (lacks === undefined) return null
    const tracks = JSON.stringify(lacks)
    return number(this.#findLack.get(tracks) ?? this.#addLack.get(tracks) ?? {}, 'id')
  }

  /** Clears the cache after streams were deleted, or a change was rolled back. */
  forget(): void {
    this.#streams.clear()
    this.#forms.clear()
  }
}

/** Returns a unique key of a stream. */
export function streamKey({ roomId, userId, source, quality }: RecordedStream): string {
  return JSON.stringify([roomId, userId, source, quality])
}

function columns({ roomId, userId, source, quality }: RecordedStream): [string, string, string, string] {
  return [roomId, userId, source, quality]
}

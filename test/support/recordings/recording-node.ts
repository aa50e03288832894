import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import type { Gap, RecorderEvent, RecordingOrder, Segment, SegmentStart } from '../../../shared/recordings/segment.ts'
import { withPath } from '../../../shared/recordings/segment-path.ts'
import { holdsMedia } from './written-media.ts'
import { type MediaNodeOptions, TestMediaNode } from '../media/media-node.ts'

/** The media program with a folder of recordings, and what it told of them. */
export class RecordingNode implements AsyncDisposable {
  readonly node: TestMediaNode
  readonly folder: string

  readonly #stays: boolean
  /** Last delay of the disk that it told, in milliseconds, and when that came. */
  #writeDelay = { ms: 0, at: 0, count: 0 }

  private constructor(node: TestMediaNode, folder: string, stays: boolean) {
    this.#stays = stays
    this.node = node
    this.folder = folder
    node.child.on('message', () => this.#noteDelay())
  }

  /** @param folder that exists and stays; left out: one of its own */
  static async start(options: MediaNodeOptions = {}, folder?: string): Promise<RecordingNode> {
    if (folder !== undefined)
      return new RecordingNode(await TestMediaNode.start({ ...options, recordings: folder }), folder, true)
    const own = await mkdtemp(join(tmpdir(), 'roomdesk-recordings-'))
    const node = await TestMediaNode.start({ ...options, recordings: own })
    return new RecordingNode(node, own, false)
  }

  /** Orders what is recorded of a room; nothing, where nothing is given. */
  async order(roomId: string, more: Partial<RecordingOrder> = {}): Promise<void> {
    await this.node.request('set_recording', { roomId, everything: false, cameras: [], people: [], ...more })
  }

  events(roomId: string): RecorderEvent[] {
    return this.node.events.flatMap((event) => {
      if (event.type !== 'recorder' || event.event.type === 'writeDelay') return []
      const about = event.event.type === 'recordingGap' ? event.event.gap : event.event.segment
      return about.roomId === roomId ? [event.event] : []
    })
  }

  /** Complete segments of a room. */
  segments(roomId: string): Segment[] {
    return this.events(roomId).flatMap((event) => (event.type === 'segmentEnded' ? [withPath(event.segment)] : []))
  }

  gaps(roomId: string): Gap[] {
    return this.events(roomId).flatMap((event) => (event.type === 'recordingGap' ? [event.gap] : []))
  }

  /** Delay of the disk at a moment by what the recorder told, in milliseconds; 0: it told of none. */
  writeDelayAt(moment: number): number {
    const { ms, at } = this.#writeDelay
    return ms === 0 ? 0 : ms + Math.max(0, moment - at)
  }

  #noteDelay(): void {
    const told = this.node.events.flatMap((event) =>
      event.type === 'recorder' && event.event.type === 'writeDelay' ? [event.event.ms] : [],
    )
    if (told.length > this.#writeDelay.count)
      this.#writeDelay = { ms: told.at(-1) ?? 0, at: Date.now(), count: told.length }
  }

  /** Moment at which the first segment of somebody began, in milliseconds since the epoch; 0: none did. */
  beganAt(roomId: string, userId: string): number {
    const began = this.events(roomId).flatMap((event) => (event.type === 'segmentBegan' ? [event.segment] : []))
    return began.find((segment) => segment.userId === userId)?.startedAt ?? 0
  }

  /** Waits until this many segments of a room began. */
  async began(roomId: string, count = 1): Promise<void> {
    const began = (): number => this.events(roomId).filter(({ type }) => type === 'segmentBegan').length
    await expect.poll(began, { timeout: 60_000 }).toBeGreaterThanOrEqual(count)
  }

  /** Waits until the newest segment of each recorded stream of a room has this much media on the disk, in milliseconds. */
  async holds(roomId: string, ms: number): Promise<void> {
    const newest = (): SegmentStart[] => {
      const byStream = new Map<string, SegmentStart>()
      for (const event of this.events(roomId)) {
        if (event.type !== 'segmentBegan') continue
        const segment = withPath(event.segment)
        byStream.set(dirname(dirname(segment.file)), segment)
      }
      return [...byStream.values()]
    }
    await holdsMedia(this.folder, newest, ms)
  }

  /** Ends the recording of a room. Resolves with its segments when they are complete. */
  async finished(roomId: string): Promise<Segment[]> {
    await this.order(roomId)
    const open = (): number => this.events(roomId).filter(({ type }) => type === 'segmentBegan').length
    await expect.poll(() => this.segments(roomId).length, { timeout: 60_000 }).toBe(open())
    return this.segments(roomId)
  }

  path(segment: Pick<Segment, 'file'>): string {
    return join(this.folder, segment.file)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node.stop()
    if (!this.#stays) await rm(this.folder, { recursive: true })
  }
}

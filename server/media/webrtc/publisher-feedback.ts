import type { Track } from 'node-datachannel'
import type { Lifetime } from '../lifetime.ts'
import { estimatedBitrate } from '../rtp/rtcp.ts'
import { BitrateEstimate } from './bitrate-estimate.ts'
import { IncomingStream } from './incoming-stream.ts'

/** What a publisher is told of its transport: what came of each of its streams, and how much it may send in all. */
export class PublisherFeedback {
  readonly #lifetime: Lifetime
  readonly #estimate: BitrateEstimate
  readonly #streams: IncomingStream[] = []

  /** @param mostBitsPerSecond what the browser is told it may send */
  constructor(lifetime: Lifetime, mostBitsPerSecond: number) {
    this.#lifetime = lifetime
    this.#estimate = new BitrateEstimate(mostBitsPerSecond)
  }

  /** One more stream of the publisher. @param clockRate of its timestamps, in Hz */
  addStream(kind: 'video' | 'audio', clockRate: number, track: Track): IncomingStream {
    const stream = new IncomingStream({ kind, clockRate, track, lifetime: this.#lifetime })
    this.#streams.push(stream)
    return stream
  }

  /** Once a second. */
  report(now: number): void {
    for (const stream of this.#streams) {
      const block = stream.report(now)
      if (block === undefined || stream.kind === 'audio') continue
      stream.send(estimatedBitrate(block.ssrc, this.#estimate.after(block.fractionLost / 256)))
    }
  }
}

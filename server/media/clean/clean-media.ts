import { clearFalsePadding, ssrcOf, timestampOf } from '../rtp/packet.ts'
import type { RtspTrack } from '../rtsp/description.ts'
import { describedUnits } from '../rtsp/resolution.ts'
import { CleanPictures, type CleanPicturesOptions } from './clean-pictures.ts'

export interface CleanMediaOptions {
  emit: (track: RtspTrack, packet: Buffer) => void
  after: CleanPicturesOptions['after']
}

/**
 * Normalizes the packets of a camera's tracks: padding bits and timestamps of all codecs, and the full packetization of
 * H.264 and H.265.
 */
export class CleanMedia {
  readonly #emit: CleanMediaOptions['emit']
  readonly #timestamps = new Map<RtspTrack['kind'], StrayTimestamps>()
  readonly #pictures: CleanPictures | undefined

  constructor(tracks: readonly RtspTrack[], { emit, after }: CleanMediaOptions) {
    this.#emit = emit
    for (const { kind, clockRate } of tracks) {
      if (clockRate > 0) this.#timestamps.set(kind, new StrayTimestamps(clockRate))
    }
    const video = tracks.find(({ kind }) => kind === 'video')
    if (video?.codec !== 'H264' && video?.codec !== 'H265') return
    this.#pictures = new CleanPictures({
      codec: video.codec,
      described: describedUnits(video),
      emit: (packet) => emit(video, packet),
      after,
    })
  }

  push(track: RtspTrack, packet: Buffer): void {
    clearFalsePadding(packet)
    this.#timestamps.get(track.kind)?.correct(packet)
    if (track.kind === 'video' && this.#pictures !== undefined) this.#pictures.push(packet)
    else this.#emit(track, packet)
  }

  close(): void {
    this.#pictures?.close()
  }
}

/**
 * Distance ahead of the expected timestamp above which a timestamp is stray, in seconds. Packet loss without a pause
 * stays below this distance.
 */
const aheadS = 5
/**
 * Distance behind the last timestamp above which a timestamp is stray, in seconds. The reordering of pictures stays
 * below this distance.
 */
const behindS = 1
/** Number of consecutive stray frames that show a clock change of the source. */
const enoughStrays = 3

/**
 * Corrects frames whose timestamp is far from both neighbors; some recorders send such a frame every few seconds.
 * Three consecutive stray frames are a clock change of the source, so the third keeps its timestamp. Packets with the
 * same timestamp form one frame.
 */
export class StrayTimestamps {
  readonly #clockRate: number
  readonly #now: () => number
  #ssrc = -1
  /** Timestamp of the last regular frame, its time of arrival, and its distance from the previous one. */
  #last = 0
  #at = 0
  #step = 0
  /** Timestamp of the last stray frame, its replacement, and the number of consecutive stray frames. */
  #stray = 0
  #replacement = 0
  #strays = 0

  /**
   * @param clockRate clock rate of the timestamps, in Hz
   * @param now milliseconds of a monotonic clock
   */
  constructor(clockRate: number, now = (): number => performance.now()) {
    this.#clockRate = clockRate
    this.#now = now
  }

  /** Replaces the timestamp in a packet of a stray frame; leaves other packets unchanged. */
  correct(packet: Buffer): void {
    const timestamp = timestampOf(packet)
    const ahead = (timestamp - this.#last) | 0
    if (ahead === 0) return
    if (ahead > aheadS * this.#clockRate || ahead < -behindS * this.#clockRate || this.#ssrc < 0)
      this.#correctFar(packet, timestamp, ahead)
    else this.#follow(timestamp, ahead)
  }

  #follow(timestamp: number, step: number): void {
    this.#last = timestamp
    this.#at = this.#now()
    this.#step = step
    this.#strays = 0
  }

  #correctFar(packet: Buffer, timestamp: number, ahead: number): void {
    const ssrc = ssrcOf(packet)
    const isOther = ssrc !== this.#ssrc
    const due = ((this.#now() - this.#at) / 1_000) * this.#clockRate
    const isPause = ahead > 0 && ahead - due <= aheadS * this.#clockRate
    if (isOther || isPause) {
      this.#ssrc = ssrc
      return this.#follow(timestamp, 0)
    }
    if (this.#strays === 0 || timestamp !== this.#stray) {
      this.#strays += 1
      this.#stray = timestamp
      if (this.#strays === enoughStrays) return this.#follow(timestamp, 0)
      this.#replacement = (this.#last + Math.max(1, this.#step) * this.#strays) >>> 0
    }
    packet.writeUInt32BE(this.#replacement, 4)
  }
}

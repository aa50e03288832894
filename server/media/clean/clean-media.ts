import { clearFalsePadding } from '../rtp/packet.ts'
import type { RtspTrack } from '../rtsp/description.ts'
import { describedUnits } from '../rtsp/resolution.ts'
import { CleanPictures, type CleanPicturesOptions } from './clean-pictures.ts'
import { StrayTimestamps } from './stray-timestamps.ts'

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

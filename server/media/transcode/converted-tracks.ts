import { codecName } from '../rtsp/codec-support.ts'
import type { RtspTrack } from '../rtsp/description.ts'
import type { Kind } from './conversion-run.ts'
import { ConvertedInput } from './converted-input.ts'
import { sourceTrack } from './source-track.ts'

/** How a track is converted. */
export interface TrackConversion {
  interlaced?: boolean
  /** The stream itself showed that it has to be converted: until a transcoder is free, viewers get the pictures as they are. */
  late?: boolean
}

/** Tracks of one camera that are converted. */
export class ConvertedTracks {
  readonly inputs: Partial<Record<Kind, ConvertedInput>> = {}
  readonly #codecs: string[] = []
  interlaced = false
  late = false

  /** Returns false for a track that is converted already, or cannot be. */
  add(track: RtspTrack, { interlaced = false, late = false }: TrackConversion): boolean {
    const source = sourceTrack(track)
    if (source === undefined || this.inputs[track.kind] !== undefined) return false
    this.inputs[track.kind] = new ConvertedInput(track, source)
    this.#codecs.push(codecName(track))
    this.interlaced ||= interlaced
    this.late ||= late
    return true
  }

  /** Whether there is any. */
  get any(): boolean {
    return this.inputs.video !== undefined || this.inputs.audio !== undefined
  }

  /** Names of the codecs. */
  get codecs(): string {
    return this.#codecs.join(', ')
  }
}

/** Picture format of a segment, constant within it. */
export interface PictureFormat {
  codec: 'avc' | 'hevc' | 'vp8'
  /** Codec string (RFC 6381), e.g. `avc1.64001f`. */
  codecString: string
  /** Width and height, in pixels. */
  width: number
  height: number
  /** Decoder configuration record (ISO/IEC 14496-15); undefined if the codec has none. */
  description: Buffer | undefined
  /** Parameter sets in the form of a picture, each preceded by its length; undefined if the codec has none. */
  parameterSets?: Buffer | undefined
}

/** Sound format of a segment. */
export interface SoundFormat {
  codec: 'opus' | 'aac' | 'flac'
  /** Codec string (RFC 6381), e.g. `mp4a.40.2`. */
  codecString: string
  /** Sample rate, in Hz. */
  sampleRate: number
  channels: number
  description: Buffer | undefined
  /** Frame that replaces missing sound; undefined: none. */
  silence: { data: Buffer; durationMs: number } | undefined
}

/** A piece of sound in the form used in a file. */
export interface AssembledSound {
  /** RTP timestamp. */
  timestamp: number
  data: Buffer
  durationMs: number
}

/** A picture in the form used in a file. */
export interface PictureFrame {
  /** Presentation time in ticks of the track's clock. */
  ticks: number
  /**
   * Ticks of the earliest picture that follows this one in decoding order and precedes it in output order; omitted:
   * none.
   */
  startTicks?: number
  data: Buffer
  key: boolean
  /** Whether pictures that follow this key frame in decoding order may precede it in output order. */
  leads?: boolean
  /** Format from this picture on; key frames only. */
  format: PictureFormat | undefined
}

/** A piece of sound in the form used in a file. */
export interface SoundFrame {
  /** Presentation time in ticks of the track's clock. */
  ticks: number
  data: Buffer
  /** Duration, in milliseconds. */
  durationMs: number
}

/** Picture of a segment: constant within it. */
export interface PictureFormat {
  codec: 'avc' | 'hevc' | 'vp8'
  /** RFC 6381, e.g. `avc1.64001f`. */
  codecString: string
  /** In pixels. */
  width: number
  height: number
  /** Decoder configuration record (ISO/IEC 14496-15); undefined: the codec has none. */
  description: Buffer | undefined
  /** Its parameter sets as they lie in a picture, each behind its length; undefined: the codec has none. */
  parameterSets?: Buffer | undefined
}

/** Sound of a segment. */
export interface SoundFormat {
  codec: 'opus' | 'aac' | 'flac'
  /** RFC 6381, e.g. `mp4a.40.2`. */
  codecString: string
  /** In Hz. */
  sampleRate: number
  channels: number
  description: Buffer | undefined
  /** Frame that takes the place of missing sound; undefined: there is none. */
  silence: { data: Buffer; durationMs: number } | undefined
}

/** A piece of sound as it lies in a file. */
export interface AssembledSound {
  /** RTP timestamp. */
  timestamp: number
  data: Buffer
  durationMs: number
}

/** A picture, in the form in which it lies in the file. */
export interface PictureFrame {
  /** Ticks of its clock, of presentation. */
  ticks: number
  /** Ticks of the earliest picture that is decoded behind it and shown before it; left out: there is none. */
  startTicks?: number
  data: Buffer
  key: boolean
  /** Pictures that are decoded behind this key frame may be shown before it. */
  leads?: boolean
  /** Format from here on; key frames only. */
  format: PictureFormat | undefined
}

/** A piece of sound, in the form in which it lies in the file. */
export interface SoundFrame {
  /** Ticks of its clock. */
  ticks: number
  data: Buffer
  /** In milliseconds. */
  durationMs: number
}

/** Whether pictures of one format can go on in a file of the other, if their parameter sets lie beside them. */
export function isSameSize(a: PictureFormat, b: PictureFormat): boolean {
  return (
    a.codec === b.codec &&
    a.width === b.width &&
    a.height === b.height &&
    profileOf(a.codecString) === profileOf(b.codecString)
  )
}

/** The beginning of a codec string, without constraints and level. */
function profileOf(codecString: string): string {
  return /^(?:avc1\...|hvc1\.[^.]+)/.exec(codecString)?.[0] ?? codecString
}

/** Whether pictures of one format go on in a file of the other. */
export function isSamePicture(a: PictureFormat, b: PictureFormat): boolean {
  return (
    isSameSize(a, b) && (a.description === b.description || (a.description?.equals(b.description ?? noBytes) ?? false))
  )
}

const noBytes = Buffer.alloc(0)

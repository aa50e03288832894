import type { Script } from '../camera/hostile-camera.ts'
import type { FieldFilm, FilmName } from './field-film.ts'
import type { Packer } from './packing.ts'

/** Sound beside the picture, on the second pair of channels. */
export interface FieldSound {
  /** Lines of its section, from `m=` to its control attribute. */
  section: readonly string[]
  payloadType: number
  everyMs: number
  /** Ticks of its clock from packet to packet. */
  ticks: number
  payload: (index: number) => Buffer
  /** Codec in the recording; empty: it is not recorded. */
  recordedAs: string
  /** Viewers and recordings take it converted, which is awaited; default: as it comes. */
  converted?: boolean
  /** Interleaved channel that it is sent on; default: 2. */
  channel?: number
}

/** Deviation of a camera or encoder of the field, and what is expected of a client all the same. */
export interface FieldCase {
  quirk: string
  /** Cameras or programs that do this, or reports of it. */
  source: string
  film?: FilmName
  /** Lets a camera answer in its own way; a method left out is answered correctly. @param elsewhere URL of another camera with the same film, on another port */
  script?: Script | ((elsewhere: string) => Script)
  /** Changes each answer; its bytes are the characters of the text (Latin-1). */
  rewrite?: (text: string) => string
  /** Description in place of the usual one. @param url of the camera */
  description?: (film: FieldFilm, url: string) => string
  /** Path of the address that the operator enters; default: /live. */
  path?: string
  over?: 'tcp' | 'udp'
  login?: { name: string; password: string }
  sound?: FieldSound
  packing?: Packer
  /** Timestamp of a picture, in 90 kHz. @param at place in the order of presentation since PLAY */
  timestamp?: (at: number) => number
  /** Changes the packets of a picture before they are sent; interleaved frames may take their place. */
  packets?: (packets: readonly Buffer[], picture: number) => readonly Buffer[]
  /** Payload type of the picture; default: 96. */
  payloadType?: number
  /** Time for which it plays before somebody watches, in milliseconds. */
  playsMs?: number
  /** It is recorded from when somebody watches, and not from the beginning. */
  recordedLate?: boolean
  expected?: Partial<FieldExpectation>
}

export interface FieldExpectation {
  /** Kind of the refusal of a camera that nobody can show, and words of its message; default: it joins. */
  refused?: readonly [kind: string, ...words: string[]]
  /** Pictures at the beginning that may be damaged or missing: the node learns from them what is wrong with the stream. */
  learns: number
  /** The picture is converted for viewers, or of a codec whose pictures are only counted. */
  converted: boolean
  /** The codec is not recorded, which the recorder reports as a gap. */
  unrecorded: boolean
  /** Files of its recording, at most; default: as many as it takes. */
  files: number
  /** Viewers show nothing, or are not asked. */
  unseen: boolean
}

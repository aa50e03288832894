import type { TestCameraCodec, TestCameraSound } from '../../../shared/media/test-camera.ts'
import { type Packing, packings, splitUnits } from '../rtp/nal-units.ts'

/** One picture. */
export interface ClipPicture {
  /** Parameter sets that precede the picture; empty for other pictures than key pictures, and for JPEG. */
  sets: readonly Buffer[]
  /** Slices of the picture; a whole JPEG file. */
  units: readonly Buffer[]
}

/** Pictures without an end, the first of which is a key picture. */
export interface PictureClip {
  /** Packetization of its NAL units; undefined: JPEG. */
  packing: Packing | undefined
  /** Pictures per second. */
  rate: number
  /** Parameter sets of the first picture; empty for JPEG. */
  sets: readonly Buffer[]
  /** Whether a picture can be decoded without earlier ones. @param index number of the picture, from 0 */
  isKey(index: number): boolean
  /** @param beganAt time of picture 0, in milliseconds since the epoch */
  picture(index: number, beganAt: number): ClipPicture
}

/** Sound that is played in a loop. */
export interface SoundClip {
  clockRate: number
  /** Ticks of the clock per frame. */
  ticks: number
  frames: readonly Buffer[]
}

/** A picture in its two sizes. Key pictures have the same places in both clips. */
export interface ClipPair {
  large: PictureClip
  small: PictureClip
}

interface UnitTypes {
  packing: Packing
  sets: readonly number[]
  keys: readonly number[]
}

/** Types of NAL units: ITU-T H.264, table 7-1, and H.265, table 7-1. */
const unitTypes: Readonly<Record<'h264' | 'h265', UnitTypes>> = {
  h264: { packing: packings.H264, sets: [7, 8], keys: [5] },
  h265: { packing: packings.H265, sets: [32, 33, 34], keys: [19, 20] },
}
const pictureRate = { units: 12, jpeg: 5 } as const

const soundFormats = {
  aac: { clockRate: 16_000, ticks: 1_024 },
  opus: { clockRate: 48_000, ticks: 960 },
  pcma: { clockRate: 8_000, ticks: 160 },
  pcmu: { clockRate: 8_000, ticks: 160 },
} as const satisfies Record<Exclude<TestCameraSound, 'none'>, Omit<SoundClip, 'frames'>>

/** Returns the bundled clips of a picture codec. */
export async function pictureClips(codec: TestCameraCodec): Promise<ClipPair> {
  if (codec === 'mjpeg') {
    const { large, small } = await import('./clips/jpeg.ts')
    return { large: jpegClip(large), small: jpegClip(small) }
  }
  const { large, small } = codec === 'h264' ? await import('./clips/h264.ts') : await import('./clips/h265.ts')
  return { large: unitClip(large, unitTypes[codec]), small: unitClip(small, unitTypes[codec]) }
}

/** Returns the clip of a sound codec. */
export async function soundClip(codec: Exclude<TestCameraSound, 'none'>): Promise<SoundClip> {
  const sounds = await import('./clips/sound.ts')
  return { ...soundFormats[codec], frames: framesOf(sounds[codec]) }
}

function jpegClip(text: string): PictureClip {
  const pictures = framesOf(text).map((frame) => ({ sets: [], units: [frame] }))
  return looped(undefined, pictureRate.jpeg, pictures, () => true)
}

function unitClip(text: string, { packing, sets, keys }: UnitTypes): PictureClip {
  const typeOf = (unit: Buffer): number => packing.typeOf(unit[0] ?? 0)
  const pictures = framesOf(text).map((frame): ClipPicture => {
    const units = splitUnits(frame)
    return {
      sets: units.filter((unit) => sets.includes(typeOf(unit))),
      units: units.filter((unit) => !sets.includes(typeOf(unit))),
    }
  })
  const isKey = pictures.map(({ units }) => units.some((unit) => keys.includes(typeOf(unit))))
  return looped(packing, pictureRate.units, pictures, (place) => isKey[place] === true)
}

function looped(
  packing: Packing | undefined,
  rate: number,
  pictures: readonly ClipPicture[],
  isKey: (place: number) => boolean,
): PictureClip {
  const empty: ClipPicture = { sets: [], units: [] }
  return {
    ...{ packing, rate, sets: pictures[0]?.sets ?? [] },
    isKey: (index) => isKey(index % pictures.length),
    picture: (index) => pictures[index % pictures.length] ?? empty,
  }
}

/** Returns the frames of a clip in base64, in which each frame follows its length in 32 bits. */
function framesOf(text: string): Buffer[] {
  const bytes = Buffer.from(text, 'base64')
  const frames: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at)
    frames.push(bytes.subarray(at + 4, end))
    at = end
  }
  return frames
}

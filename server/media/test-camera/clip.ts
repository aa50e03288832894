import type { TestCameraCodec, TestCameraSound } from '../../../shared/media/test-camera.ts'
import { splitUnits } from '../rtp/annex-b.ts'
import { type Packing, packings } from '../rtp/refragment.ts'

/** One picture of a clip. */
export interface ClipPicture {
  isKey: boolean
  /** Parameter sets that precede the picture; empty for other pictures than key pictures, and for JPEG. */
  sets: readonly Buffer[]
  /** Slices of the picture; a whole JPEG file. */
  units: readonly Buffer[]
}

/** Pictures that are shown in a loop. The clip begins with a key picture. */
export interface PictureClip {
  /** Packetization of its NAL units; undefined: JPEG. */
  packing: Packing | undefined
  /** Pictures per second. */
  rate: number
  pictures: readonly ClipPicture[]
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

/** Returns the clips of a picture codec. */
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
  switch (codec) {
    case 'aac':
      return { clockRate: 16_000, ticks: 1_024, frames: framesOf((await import('./clips/aac.ts')).sound) }
    case 'opus':
      return { clockRate: 48_000, ticks: 960, frames: framesOf((await import('./clips/opus.ts')).sound) }
    case 'pcma':
      return { clockRate: 8_000, ticks: 160, frames: framesOf((await import('./clips/pcma.ts')).sound) }
    case 'pcmu':
      return { clockRate: 8_000, ticks: 160, frames: framesOf((await import('./clips/pcmu.ts')).sound) }
  }
}

function jpegClip(text: string): PictureClip {
  const pictures = framesOf(text).map((frame) => ({ isKey: true, sets: [], units: [frame] }))
  return { packing: undefined, rate: pictureRate.jpeg, pictures }
}

function unitClip(text: string, { packing, sets, keys }: UnitTypes): PictureClip {
  const typeOf = (unit: Buffer): number => packing.typeOf(unit[0] ?? 0)
  const pictures = framesOf(text).map((frame): ClipPicture => {
    const units = splitUnits(frame)
    return {
      isKey: units.some((unit) => keys.includes(typeOf(unit))),
      sets: units.filter((unit) => sets.includes(typeOf(unit))),
      units: units.filter((unit) => !sets.includes(typeOf(unit))),
    }
  })
  return { packing, rate: pictureRate.units, pictures }
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

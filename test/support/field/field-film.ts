import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ALL_FORMATS, EncodedPacketSink, FilePathSource, Input } from 'mediabunny'
import { splitUnits } from '../../../server/media/rtp/nal-units.ts'
import { parameterSets, unitsOf } from '../camera/film-camera.ts'
import { fieldCodedFilm } from './field-coded.ts'

const run = promisify(execFile)
const folder = join(import.meta.dirname, '../../../node_modules/.cache')

/** Pictures a second of each film. */
export const filmRate = 25

/** One coded picture. */
export interface FilmPicture {
  /** NAL units without parameter sets and delimiters; a single buffer for other codecs. */
  units: Buffer[]
  key: boolean
  /** Place in the order of presentation, counted from 0. */
  at: number
}

/** Coded pictures that a camera sends again and again, in decoding order. */
export interface FieldFilm {
  codec: 'H264' | 'H265' | 'VP8' | 'JPEG' | 'MP4V-ES'
  /** Parameter sets, in the order in which a decoder needs them. */
  sets: Buffer[]
  pictures: FilmPicture[]
}

const picture = ['-f', 'lavfi', '-i', `testsrc2=size=192x112:rate=${filmRate}`]
const x264 = (how: string, ...more: string[]): string[] => [
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', ...more],
  ...['-x264-params', `scenecut=0:threads=1:${how}`],
]
const x265 = 'keyint=10:min-keyint=10:scenecut=0:bframes=0:aud=1:repeat-headers=1:log-level=none'

interface Recipe {
  codec: FieldFilm['codec']
  pictures: number
  coded: readonly string[]
  extension: 'mp4' | 'hevc' | 'ivf' | 'mjpeg'
}

/** How the films are coded. Their groups have ten pictures unless the name says otherwise. */
const recipes = {
  plain: {
    codec: 'H264',
    pictures: 50,
    coded: x264('keyint=10:slices=2', '-tune', 'zerolatency', '-profile:v', 'baseline'),
    extension: 'mp4',
  },
  /** Other parameter sets than `plain`, of another size. */
  other: {
    codec: 'H264',
    pictures: 50,
    coded: x264('keyint=10:slices=1:cabac=1:sps-id=3', '-tune', 'zerolatency', '-vf', 'scale=256:144'),
    extension: 'mp4',
  },
  bFrames: {
    codec: 'H264',
    pictures: 50,
    coded: x264('keyint=10:bframes=2:b-adapt=0:open-gop=0', '-profile:v', 'main'),
    extension: 'mp4',
  },
  openGroups: {
    codec: 'H264',
    pictures: 50,
    coded: x264('keyint=10:bframes=2:b-adapt=0:open-gop=1', '-profile:v', 'main'),
    extension: 'mp4',
  },
  /** The first picture is the only IDR picture; each further group begins with a recovery point. */
  singleKey: {
    codec: 'H264',
    pictures: 400,
    coded: x264('keyint=10:bframes=2:b-adapt=0:open-gop=1', '-profile:v', 'main'),
    extension: 'mp4',
  },
  /** The first picture is the only IDR picture; a column of blocks at a time is refreshed, and each round begins with a recovery point. */
  intraRefresh: {
    codec: 'H264',
    pictures: 1_500,
    coded: x264('keyint=25:intra-refresh=1', '-tune', 'zerolatency', '-profile:v', 'baseline'),
    extension: 'mp4',
  },
  interlaced: {
    codec: 'H264',
    pictures: 50,
    coded: x264('keyint=10:interlaced=1', '-profile:v', 'main', '-vf', 'scale=192:128'),
    extension: 'mp4',
  },
  longGroup: {
    codec: 'H264',
    pictures: 500,
    coded: x264('keyint=500', '-tune', 'zerolatency', '-profile:v', 'baseline'),
    extension: 'mp4',
  },
  h265: {
    codec: 'H265',
    pictures: 50,
    coded: ['-c:v', 'libx265', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-x265-params', x265],
    extension: 'hevc',
  },
  /** Each group of twelve but the first begins with a CRA picture, behind which come pictures that are shown before it and need the group before. */
  openGroupsH265: {
    codec: 'H265',
    pictures: 72,
    coded: [
      ...['-c:v', 'libx265', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-x265-params'],
      'keyint=12:min-keyint=12:scenecut=0:bframes=2:b-adapt=0:b-pyramid=0:open-gop=1:repeat-headers=1:log-level=none',
    ],
    extension: 'mp4',
  },
  temporalLayers: {
    codec: 'H265',
    pictures: 50,
    coded: [
      ...['-c:v', 'libx265', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-x265-params'],
      'keyint=10:min-keyint=10:scenecut=0:bframes=3:b-adapt=0:temporal-layers=1:open-gop=0:repeat-headers=1:log-level=none',
    ],
    extension: 'mp4',
  },
  vp8: {
    codec: 'VP8',
    pictures: 50,
    coded: ['-c:v', 'libvpx', '-g', '10', '-b:v', '400k', '-deadline', 'realtime', '-auto-alt-ref', '0'],
    extension: 'ivf',
  },
  jpeg: {
    codec: 'JPEG',
    pictures: 10,
    coded: ['-c:v', 'mjpeg', '-q:v', '8', '-pix_fmt', 'yuvj420p', '-huffman', 'default'],
    extension: 'mjpeg',
  },
  largeJpeg: {
    codec: 'JPEG',
    pictures: 4,
    coded: [
      ...['-c:v', 'mjpeg', '-q:v', '24', '-pix_fmt', 'yuvj420p', '-huffman', 'default'],
      ...['-vf', 'scale=2560:1440'],
    ],
    extension: 'mjpeg',
  },
} as const satisfies Record<string, Recipe>

export type FilmName = keyof typeof recipes | 'fieldCoded' | 'twoSizes'

const films = new Map<FilmName, Promise<FieldFilm>>()

/** Returns a film; ffmpeg makes it once, and it is kept for the next run. */
export function fieldFilm(name: FilmName): Promise<FieldFilm> {
  const known = films.get(name)
  if (known !== undefined) return known
  const made =
    name === 'fieldCoded'
      ? Promise.resolve(fieldCodedFilm())
      : name === 'twoSizes'
        ? inSuccession('plain', 'other')
        : readFilm(name)
  films.set(name, made)
  return made
}

/** One film after the other; each key picture holds its parameter sets. */
async function inSuccession(...names: (keyof typeof recipes)[]): Promise<FieldFilm> {
  const parts = await Promise.all(names.map(fieldFilm))
  const pictures = parts.flatMap(({ sets, pictures: own }) =>
    own.map(({ units, key }) => ({ units: key ? [...sets, ...units] : units, key })),
  )
  return { codec: 'H264', sets: [], pictures: pictures.map((each, at) => ({ ...each, at })) }
}

async function readFilm(name: keyof typeof recipes): Promise<FieldFilm> {
  const recipe: Recipe = recipes[name]
  const path = await coded(name, recipe)
  if (recipe.extension === 'mp4') return recipe.codec === 'H265' ? await h265FromMp4(path) : await fromMp4(path)
  const bytes = await readFile(path)
  if (recipe.extension === 'hevc') return fromAnnexB(bytes)
  const frames = recipe.extension === 'ivf' ? ivfFrames(bytes) : jpegFrames(bytes)
  const pictures = frames.map((frame, at) => {
    // VP8: the lowest bit of the frame tag (RFC 6386, section 9.1).
    const key = recipe.codec === 'JPEG' || ((frame[0] ?? 1) & 1) === 0
    return { units: [frame], key, at }
  })
  return { codec: recipe.codec, sets: [], pictures }
}

async function coded(name: string, { coded: how, pictures, extension }: Recipe): Promise<string> {
  const path = join(folder, `field-${name}-${pictures}.${extension}`)
  if (existsSync(path)) return path
  await mkdir(folder, { recursive: true })
  const part = `${path}.${process.pid}.${extension}`
  await run('ffmpeg', ['-v', 'error', '-y', ...picture, '-frames:v', String(pictures), ...how, part])
  await rename(part, path)
  return path
}

async function fromMp4(path: string): Promise<FieldFilm> {
  const { pictures, description } = await picturesOfMp4(path)
  const isSlice = (unit: Buffer): boolean => ![7, 8, 9].includes((unit[0] ?? 0) & 0x1f)
  return { codec: 'H264', sets: parameterSets(description), pictures: withUnits(pictures, isSlice) }
}

/** Parameter sets are in the packets. */
async function h265FromMp4(path: string): Promise<FieldFilm> {
  const { pictures } = await picturesOfMp4(path)
  const typeOf = (unit: Buffer): number => ((unit[0] ?? 0) >> 1) & 0x3f
  const sets = new Map<number, Buffer>()
  for (const unit of pictures.flatMap(({ units }) => units))
    if (typeOf(unit) >= 32 && typeOf(unit) <= 34) sets.set(typeOf(unit), unit)
  return { codec: 'H265', sets: [...sets.values()], pictures: withUnits(pictures, (unit) => typeOf(unit) < 32) }
}

async function picturesOfMp4(path: string): Promise<{ pictures: FilmPicture[]; description: Buffer }> {
  using input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS })
  const video = await input.getPrimaryVideoTrack()
  if (video === null) throw new Error(`${path} has no picture`)
  const pictures: FilmPicture[] = []
  for await (const packet of new EncodedPacketSink(video).packets()) {
    const at = Math.round(packet.timestamp * filmRate)
    pictures.push({ units: unitsOf(packet), key: packet.type === 'key', at })
  }
  const first = Math.min(...pictures.map(({ at }) => at))
  const description = Buffer.from((await video.getDecoderConfig())?.description as Uint8Array)
  return { pictures: pictures.map((each) => ({ ...each, at: each.at - first })), description }
}

function withUnits(pictures: readonly FilmPicture[], isKept: (unit: Buffer) => boolean): FilmPicture[] {
  return pictures.map((picture) => ({ ...picture, units: picture.units.filter(isKept) }))
}

function fromAnnexB(bytes: Buffer): FieldFilm {
  const sets = new Map<number, Buffer>()
  const pictures: FilmPicture[] = []
  for (const unit of splitUnits(bytes)) {
    const type = ((unit[0] ?? 0) >> 1) & 0x3f
    if (type === 35) pictures.push({ units: [], key: false, at: pictures.length })
    else if (type >= 32 && type <= 34) sets.set(type, unit)
    else pictures.at(-1)?.units.push(unit)
    const last = pictures.at(-1)
    if (last !== undefined && type >= 16 && type <= 21) last.key = true
  }
  return { codec: 'H265', sets: [...sets.values()], pictures }
}

function ivfFrames(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = []
  for (let at = 32; at + 12 <= bytes.length; ) {
    const size = bytes.readUInt32LE(at)
    frames.push(bytes.subarray(at + 12, at + 12 + size))
    at += 12 + size
  }
  return frames
}

function jpegFrames(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(Buffer.from([0xff, 0xd9]), at)
    if (end < 0) break
    frames.push(bytes.subarray(at, end + 2))
    at = end + 2
  }
  return frames
}

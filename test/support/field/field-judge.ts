import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { z } from 'zod'
import type { Segment } from '../../../shared/recordings/segment.ts'
import { NodeFailure } from '../media/media-node.ts'
import type { RecordingNode } from '../recordings/recording-node.ts'
import { FieldCamera } from './field-camera.ts'
import type { FieldCase } from './field-case.ts'
import { FieldViewer } from './field-viewer.ts'
import { receivedPictures } from './received-pictures.ts'

const run = promisify(execFile)

/** Whole pictures in a row that a viewer must see. */
const wanted = 14
/** Time that they may take, in milliseconds; ffmpeg takes its time on a busy machine. */
const seenWithinMs = { passed: 12_000, converted: 30_000 } as const
/** Time by which sound may be shorter or longer than its picture, in seconds: the first of it may come later. */
const maxApart = 0.6
/** Time that the end of a recording may take, in milliseconds. */
const writtenWithinMs = 15_000
/** Pictures that a recording may lack: the last one has no successor that tells its end. */
const maxUnrecorded = 2

/** Longer than between two key pictures of the films, in milliseconds. */
const keyEveryMs = 1_000

const userId = 'cam'
let rooms = 0

/**
 * What is wrong with a camera of the corpus at a node: nothing, where it is joined, seen and recorded whole.
 * @param watch another viewer: resolves with what is wrong for it
 */
export async function faultsOf(
  field: FieldCase,
  recording: RecordingNode,
  watch: (roomId: string, userId: string) => Promise<string[]> = async () => [],
): Promise<string[]> {
  const { node } = recording
  const roomId = `field-${(rooms += 1)}`
  await using camera = await FieldCamera.start(field)
  await node.openRoom(roomId)
  const record = async (): Promise<void> => await recording.order(roomId, { cameras: [{ userId, quality: 'main' }] })
  if (field.recordedLate !== true) await record()
  const { refused } = field.expected ?? {}
  try {
    const login = field.login === undefined ? {} : { login: field.login }
    await node.addDevice(roomId, userId, camera.url, login, 15_000)
  } catch (error) {
    if (!(error instanceof NodeFailure)) throw error
    const said = `${error.kind}: ${error.message}`
    if (refused === undefined) return [`not joined: ${said}; asked ${camera.requests.join(', ')}`]
    return refused.every((word) => said.includes(word)) ? [] : [`refused with other words: ${said}`]
  } finally {
    if (refused !== undefined) await node.request('close_room', { roomId })
  }
  if (refused !== undefined) return [`joined, and was to be refused (${refused.join(' ')})`]
  await sleep(field.playsMs ?? 0)
  if (field.recordedLate === true) await record()
  const faults = [
    ...(await Promise.all([seen(field, camera, recording, roomId), watch(roomId, userId)])).flat(),
    ...(await recordedFaults(field, camera, recording, roomId)),
  ]
  await node.request('close_room', { roomId })
  return faults
}

async function seen(
  { sound, expected: { converted = false, unseen = false, learns = 0 } = {} }: FieldCase,
  camera: FieldCamera,
  { node }: RecordingNode,
  roomId: string,
): Promise<string[]> {
  if (unseen) {
    await sleep(1_500)
    return []
  }
  const viewer = await FieldViewer.open(
    `${node.url}/whep/${roomId}/${userId}`,
    node.token(roomId, { role: 'observer' }),
  )
  const isSoundConverted = sound?.converted === true
  try {
    const until = performance.now() + seenWithinMs[converted || isSoundConverted ? 'converted' : 'passed']
    for (;;) {
      const { inRow, whole, faults } = receivedPictures(viewer.pictures, camera.film, converted)
      const isHeard = !isSoundConverted || viewer.sounds > 0
      if (inRow >= wanted && isHeard) {
        // A recording takes sound that comes late with its next key picture.
        if (isSoundConverted) await sleep(keyEveryMs)
        return faults.length > learns ? faults.slice(0, 3) : []
      }
      if (performance.now() > until)
        return [
          `seen: ${inRow} in a row of ${whole} whole pictures in ${viewer.pictures.length} packets`,
          ...(isHeard ? [] : ['not heard']),
          ...faults.slice(-3),
        ]
      await sleep(200)
    }
  } finally {
    await viewer.close()
  }
}

async function recordedFaults(
  { expected: { learns = 0, unrecorded = false, files: maxFiles = Infinity } = {}, sound }: FieldCase,
  camera: FieldCamera,
  recording: RecordingNode,
  roomId: string,
): Promise<string[]> {
  if (unrecorded) {
    const reasons = (): string[] => recording.gaps(roomId).map(({ reason }) => reason)
    for (let left = 100; left > 0 && !reasons().includes('codec'); left--) await sleep(50)
    return reasons().includes('codec') ? [] : [`not recorded, and the gaps are told as ${reasons().join(', ')}`]
  }
  camera.pause()
  await sleep(250)
  await recording.order(roomId)
  const began = (): number => recording.events(roomId).filter(({ type }) => type === 'segmentBegan').length
  const until = performance.now() + writtenWithinMs
  // Not `finished`: its poll belongs to one test, and these run at the same time.
  while (recording.segments(roomId).length < began() && performance.now() < until) await sleep(50)
  const segments = recording.segments(roomId)
  const files = await Promise.all(segments.map((segment) => countPictures(recording.path(segment))))
  const faults = files.flatMap(({ complaints }) => (complaints === '' ? [] : [`recording: ${complaints}`]))
  if (files.length > maxFiles) faults.push(`recorded in ${files.length} files: ${ends(segments)}`)
  const pictures = files.reduce((sum, file) => sum + file.pictures, 0)
  const due = camera.sent - maxUnrecorded - learns
  if (pictures < due) faults.push(`recorded ${pictures} of ${camera.sent} pictures in ${ends(segments)}`)
  const sounds = new Set(files.flatMap(({ sounds: codecs }) => codecs))
  if (sound !== undefined && sound.recordedAs !== '' && !sounds.has(sound.recordedAs))
    faults.push(`the sound is recorded as ${[...sounds].join(', ') || 'nothing'}`)
  for (const { seconds, sounds: codecs } of files) {
    const apart = Math.abs(seconds.video - seconds.audio)
    if (sound !== undefined && sound.recordedAs !== '' && codecs.length > 0 && apart > maxApart)
      faults.push(`the sound lasts ${seconds.audio} s, its picture ${seconds.video} s`)
  }
  return faults
}

const ends = (segments: readonly Segment[]): string => segments.map(({ end }) => end).join(', ') || 'no file'

const probeSchema = z.object({
  streams: z.array(
    z.object({
      codec_type: z.string(),
      codec_name: z.string(),
      nb_read_frames: z.coerce.number().default(0),
      duration: z.coerce.number().default(0),
    }),
  ),
})

interface PlayedFile {
  pictures: number
  /** Codecs of its sound. */
  sounds: string[]
  /** Lengths of its tracks; 0: there is none. */
  seconds: { video: number; audio: number }
  complaints: string
}

/** Decodes a file whole with ffprobe, and counts its pictures. */
async function countPictures(path: string): Promise<PlayedFile> {
  const shown = ['-show_entries', 'stream=codec_type,codec_name,nb_read_frames,duration', '-of', 'json']
  const { stdout, stderr } = await run('ffprobe', ['-v', 'error', '-threads', '1', '-count_frames', ...shown, path])
  const { streams } = probeSchema.parse(JSON.parse(stdout))
  const secondsOf = (kind: string): number => streams.find(({ codec_type }) => codec_type === kind)?.duration ?? 0
  return {
    pictures: streams.find(({ codec_type }) => codec_type === 'video')?.nb_read_frames ?? 0,
    sounds: streams.filter(({ codec_type }) => codec_type === 'audio').map(({ codec_name }) => codec_name),
    seconds: { video: secondsOf('video'), audio: secondsOf('audio') },
    complaints: stderr.trim().slice(0, 200),
  }
}

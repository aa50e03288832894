import { stat } from 'node:fs/promises'
import PQueue from 'p-queue'
import type { ExportFormat } from '../../../shared/domain/recording-exports.ts'
import type { OwnPath } from '../../../shared/files/own-path.ts'
import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import type { LocalFfmpeg } from '../../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import type { StoredRecording, StoredRecordingFile } from '../../store/recording-records.ts'
import { renameFile } from '../../store/system/rename-file.ts'
import type { SpaceBudget } from '../disk-space.ts'
import { NothingRecordedError } from '../export/export-job.ts'
import type { ExportSpan } from '../export/export-span.ts'
import { fileInput, runFfmpeg } from '../export/ffmpeg-convert.ts'
import type { SpanExport, WrittenExport } from '../export/span-export.ts'
import type { RecordingIndex } from '../recording-index.ts'
import type { RecordFiles } from './record-files.ts'
import { pictureSourceOf, recordedStreams, type Span } from './recorded-streams.ts'

export interface FileMakingDependencies {
  index: RecordingIndex
  span: Pick<SpanExport, 'writeFiles'>
  files: RecordFiles
  mixer: SoundMixer
  budget: Pick<SpaceBudget, 'claim'>
}

/** Thrown if no file can be made from a recording. The client receives the message. */
export class NoFileError extends Error {
  override readonly name = 'NoFileError'
}

const diskFull = 'The disk is too full for its file. What was recorded stays as long as the retention says.'
const nothingCame = 'No picture or sound came while it was recorded.'

/**
 * Makes the files of an ended recording. A recording of a user has one file, or several if the format changed and
 * ffmpeg is missing. A recording of a room has one file per stream. If an error occurs, removes the files made so far.
 */
export async function makeFiles(
  dependencies: FileMakingDependencies,
  recording: StoredRecording,
  signal: AbortSignal,
): Promise<StoredRecordingFile[]> {
  const making = new FileMaking(dependencies, recording, signal)
  // One long recording may need most of the free space, so one client may claim all free space.
  const request = { owner: `client ${recording.created_by}`, bytes: making.neededBytes, share: 1 }
  const claim = await dependencies.budget.claim(request)
  if (claim === undefined) throw new NoFileError(diskFull)
  try {
    return await making.make()
  } catch (error) {
    await dependencies.files.remove(making.made)
    throw error instanceof NothingRecordedError ? new NoFileError(nothingCame) : error
  } finally {
    claim.release()
  }
}

class FileMaking {
  readonly #dependencies: FileMakingDependencies
  readonly #recording: StoredRecording
  readonly #signal: AbortSignal
  readonly #span: Span
  readonly made: StoredRecordingFile[] = []

  constructor(dependencies: FileMakingDependencies, recording: StoredRecording, signal: AbortSignal) {
    this.#dependencies = dependencies
    this.#recording = recording
    this.#signal = signal
    this.#span = { from: recording.created_at, to: recording.ended_at ?? Date.now() }
  }

  /**
   * Required space, in bytes: the size of the recorded segments. Mixing doubles this size, for drafts beside the
   * result.
   */
  get neededBytes(): number {
    const { sound, picture } = this.#recording
    const streams = recordedStreams(this.#dependencies.index, this.#recording, this.#span)
    const segments = streams.flatMap((stream) => this.#dependencies.index.segments({ ...stream, ...this.#span }))
    const isMixed = sound === 'room' || picture === 'screen'
    return segments.reduce((sum, { bytes }) => sum + bytes, 0) * (isMixed ? 2 : 1)
  }

  async make(): Promise<StoredRecordingFile[]> {
    const { user_id } = this.#recording
    if (user_id === '') await this.#makeRoom()
    else await this.#makeUser(user_id)
    if (this.made.length === 0) throw new NoFileError(nothingCame)
    return this.made
  }

  async #makeRoom(): Promise<void> {
    const { picture, sound } = this.#recording
    for (const stream of recordedStreams(this.#dependencies.index, this.#recording, this.#span)) {
      const request = { ...stream, ...this.#span, picture: picture !== 'none', sound: sound === 'own' }
      if (!this.#has(stream, request)) continue
      await this.#export(request)
    }
    if (sound === 'room') await this.#mix(undefined)
  }

  async #makeUser(userId: string): Promise<void> {
    const { room_id: roomId, picture, sound } = this.#recording
    const source = pictureSourceOf(picture)
    // The microphone belongs to the camera's stream, so a screen and its sound are joined from two streams.
    const own = sound === 'own' && picture !== 'screen'
    const stream = { roomId, userId, source, quality: 'main' as const }
    const request: ExportSpan = { ...stream, ...this.#span, picture: picture !== 'none', sound: own }
    if (sound === 'none' || own) await this.#export(request)
    else await this.#mix(picture === 'none' ? undefined : request)
  }

  /** Exports one stream as it was recorded. */
  async #export(request: ExportSpan): Promise<void> {
    const written = await this.#write(request, `${this.#recording.id}-${this.made.length}`, this.#format(), false)
    for (const file of written) await this.#add(file, file.path, file.at, request)
  }

  /** Writes a file with a picture, if any, and the mixed sound of the room or of the user. */
  async #mix(picture: ExportSpan | undefined): Promise<void> {
    const { mixer, files } = this.#dependencies
    const { id, sound } = this.#recording
    const problem = await mixer.problem()
    if (problem !== '') throw new NoFileError(problem)
    const drafts: { file: string }[] = []
    const draft = `${id}-${this.made.length}-draft`
    const take = async (request: ExportSpan, name: string): Promise<MixedSound> => {
      const [file, ...others] = await this.#write(
        request,
        `${draft}-${name}`,
        name === 'picture' ? 'mp4' : 'original',
        true,
      )
      for (const each of [file, ...others]) if (each !== undefined) drafts.push({ file: nameOf(each.path) })
      if (file === undefined || others.length > 0) {
        throw new NoFileError('The format changed while it was recorded: one file of it needs ffmpeg.')
      }
      return { path: file.path, startedAt: file.at, container: file.container }
    }
    try {
      const heard = sound === 'room' ? { ...this.#recording, user_id: '' } : this.#recording
      const streams = recordedStreams(this.#dependencies.index, heard, this.#span).filter((stream) =>
        this.#has(stream, { picture: false, sound: true }),
      )
      const sounds: MixedSound[] = []
      for (const stream of streams) {
        if (sound !== 'room' && stream.source !== 'main') continue
        sounds.push(await take({ ...stream, ...this.#span, picture: false, sound: true }, `sound${sounds.length}`))
      }
      const film = picture && (await take({ ...picture, sound: false }, 'picture'))
      if (sounds.length === 0 && film === undefined) throw new NoFileError('Nobody was heard while it was recorded.')
      const container = film?.container ?? 'mp4'
      const result = await files.reserve(`${draft}.${container}`)
      drafts.push({ file: nameOf(result) })
      const { durationMs, startedAt } = await mixer.mix({
        picture: film,
        sounds,
        container,
        result,
        signal: this.#signal,
      })
      const { size: bytes } = await stat(result)
      const of = picture ?? { userId: this.#recording.user_id, source: 'main' as const }
      await this.#add({ container, bytes, durationMs }, result, startedAt, of)
    } finally {
      await files.remove(drafts)
    }
  }

  async #write(request: ExportSpan, name: string, format: ExportFormat, keepGaps: boolean): Promise<WrittenExport[]> {
    const { span, files } = this.#dependencies
    await files.ready()
    const pathOf = (number: number, container: string): OwnPath => files.path(`${name}-part${number}.${container}`)
    return await span.writeFiles(request, pathOf, { format, keepGaps, signal: this.#signal })
  }

  /** Returns the export format: MP4 that plays everywhere if MP4 is requested, otherwise the recorded format. */
  #format(): ExportFormat {
    return this.#recording.container === 'mp4' ? 'compatible' : 'original'
  }

  #has(stream: RecordedStream, { picture, sound }: Pick<ExportSpan, 'picture' | 'sound'>): boolean {
    const { index } = this.#dependencies
    const query = { ...stream, ...this.#span }
    return [...index.segments(query), ...index.open(query)].some(
      ({ videoCodec, audioCodec }) => (picture && videoCodec !== '') || (sound && audioCodec !== ''),
    )
  }

  async #add(
    { container, bytes, durationMs }: Pick<WrittenExport, 'container' | 'bytes' | 'durationMs'>,
    path: OwnPath,
    startedAt: number,
    { userId, source }: Pick<RecordedStream, 'userId' | 'source'>,
  ): Promise<void> {
    const file = `${this.#recording.id}-${this.made.length}.${container}`
    await renameFile(path, this.#dependencies.files.path(file))
    const times = { duration_ms: Math.round(durationMs), started_at: Math.round(startedAt) }
    this.made.push({ file, user_id: userId, source, container, bytes, ...times })
  }
}

function nameOf(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
}

interface MixedSound {
  path: OwnPath
  container: 'mp4' | 'webm'
  /** Time of the first frame or sample, in milliseconds since the epoch. */
  startedAt: number
}

/** Picture and sounds to combine into one file. */
interface MixRequest {
  /** Picture of the result; undefined: only sound. */
  picture: MixedSound | undefined
  sounds: readonly MixedSound[]
  container: 'mp4' | 'webm'
  /** Path of the result; the file already exists and is empty. */
  result: OwnPath
  signal: AbortSignal
}

/** Maximum number of concurrent mixes: each decodes and encodes hours of sound. */
const mixesAtOnce = 1
/** Maximum number of inputs of one mix. Listeners cannot distinguish more people in one sound. */
const maxSounds = 64

/** Mixes several sounds into one with ffmpeg; the picture is copied. */
export class SoundMixer {
  readonly #ffmpeg: LocalFfmpeg
  readonly #queue = new PQueue({ concurrency: mixesAtOnce })

  constructor(ffmpeg: LocalFfmpeg) {
    this.#ffmpeg = ffmpeg
  }

  /** Returns the reason why mixing is impossible, as a sentence; empty if it is possible. Never rejects. */
  async problem(): Promise<string> {
    await this.#ffmpeg.look()
    const { program } = this.#ffmpeg
    if (program === undefined) return 'The sound of several people needs ffmpeg: install it on the controller.'
    return program.sound ? '' : 'The sound of several people needs an ffmpeg with the encoder libopus.'
  }

  /** @throws Error if ffmpeg fails; AbortError */
  async mix(request: MixRequest): Promise<{ startedAt: number; durationMs: number }> {
    return await this.#queue.add(() => this.#mix(request), { signal: request.signal })
  }

  async #mix({
    picture,
    sounds,
    container,
    result,
    signal,
  }: MixRequest): Promise<{ startedAt: number; durationMs: number }> {
    const { program } = this.#ffmpeg
    if (program === undefined) throw new Error('ffmpeg is gone')
    const heard = sounds.slice(0, maxSounds)
    const startedAt = picture?.startedAt ?? Math.min(...heard.map((sound) => sound.startedAt))
    const inputs = [...(picture === undefined ? [] : [picture]), ...heard].flatMap(({ path, container: of }) =>
      fileInput(path, of),
    )
    const first = picture === undefined ? 0 : 1
    const moved = heard.map((sound, n) => `[${first + n}:a]${shift(sound.startedAt - startedAt)}[s${n}]`)
    const names = heard.map((_, n) => `[s${n}]`).join('')
    const sum = `${names}amix=inputs=${heard.length}:duration=longest:normalize=0,alimiter=limit=0.95[mix]`
    const sound = heard.length === 0 ? [] : ['-filter_complex', [...moved, sum].join(';'), '-map', '[mix]']
    let endUs = 0
    await runFfmpeg(
      program.path,
      [
        ...['-hide_banner', '-loglevel', 'error', '-nostdin', '-y', '-progress', 'pipe:1'],
        ...inputs,
        ...(picture === undefined ? [] : ['-map', '0:v', '-c:v', 'copy']),
        ...sound,
        ...(container === 'mp4'
          ? ['-c:a', 'aac', '-b:a', '96k', '-movflags', '+faststart', '-f', 'mp4']
          : ['-c:a', 'libopus', '-b:a', '64k', '-f', 'webm']),
        result,
      ],
      {
        signal,
        line: (line) => {
          const [, time] = /^out_time_us=(\d+)/.exec(line) ?? []
          if (time !== undefined) endUs = Number(time)
        },
      },
    )
    return { startedAt, durationMs: endUs / 1_000 }
  }
}

/** Returns the ffmpeg filter that shifts a sound in time: silence delays it, a cut advances it. */
function shift(milliseconds: number): string {
  if (milliseconds >= 0) return `adelay=${Math.round(milliseconds)}:all=1`
  return `atrim=start=${(-milliseconds / 1_000).toFixed(3)},asetpts=PTS-STARTPTS`
}

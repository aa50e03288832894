import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { Playback } from '../../../../server/media/feeds/feed.ts'
import { RawTap } from '../../../../server/media/feeds/raw-tap.ts'
import { YieldingScheduler } from '../../../../server/media/record/yielding-scheduler.ts'
import { RecordingDisk } from '../../../../server/media/record/recording-disk.ts'
import { Segmenter } from '../../../../server/media/record/segmenter.ts'
import { type RecorderReports, StreamFiles } from '../../../../server/media/record/stream-files.ts'
import { TrackInput } from '../../../../server/media/record/stream-recorder.ts'
import { soundAssembly, opusSilence, opusSilenceMs } from '../../../../server/media/record/sound-assembly.ts'
import { SpanExport } from '../../../../server/recordings/export/span-export.ts'
import { type LiveFragment, mediaLines } from '../../../../server/recordings/live/live-window.ts'
import { moveTimes } from '../../../../server/recordings/live/changed-fragments.ts'
import { spanPiecesOf } from '../../../../server/recordings/playback/playable-pieces.ts'
import { insideOf } from '../../../../shared/files/own-path.ts'
import type { RecordedStream, Segment } from '../../../../shared/recordings/segment.ts'
import { withPath } from '../../../../shared/recordings/segment-path.ts'
import { type FieldFilm, fieldFilm, type FilmName, filmRate } from '../../../support/field/field-film.ts'
import { usualPacker } from '../../../support/field/packing.ts'
import { type RecordingsSite, recordingsSite } from '../../../support/recordings/recordings-site.ts'

const run = promisify(execFile)
const startedAt = Date.UTC(2026, 8, 21, 10)
const stream: RecordedStream = { roomId: '1000', userId: 'camera', source: 'main', quality: 'main' }
const everyMs = 1_000 / filmRate
/** Time by which a picture is sent before it is shown, at most, in milliseconds: two are shown before it. */
const aheadMs = 2 * everyMs
const opus = { codec: 'OPUS', clockRate: 48_000, channels: 2, parameters: new Map<string, string>() }

function packet(payload: Buffer, number: number, timestamp: number, marker: boolean): Buffer {
  const header = Buffer.alloc(12)
  header.set([0x80, marker ? 0xe0 : 0x60])
  header.writeUInt16BE(number & 0xffff, 2)
  header.writeUInt32BE(timestamp >>> 0, 4)
  return Buffer.concat([header, payload])
}

/** Records a film several times in a row, with Opus, by a clock that the test sets. Returns the segments and what was sent. */
async function recordFilm(site: RecordingsSite, film: FieldFilm, rounds: number) {
  const pictures = rounds * film.pictures.length
  let at = 0
  const segments: Segment[] = []
  const controller: RecorderReports = {
    notify: (_, { event }) => {
      if (event.type === 'segmentEnded') segments.push(withPath(event.segment))
    },
  }
  const failed = (...error: unknown[]): never => expect.fail(String(error))
  const log = { error: failed, warn: failed, info: () => {}, debug: () => {} }
  const disk = new RecordingDisk(site.folder, { failed, late: () => {} })
  const facts = () => ({ ...stream, userName: 'Camera', topic: '', device: true })
  const now = (): number => at
  const files = new StreamFiles(facts, new Playback(), {
    ...{ disk, controller, now, scheduler: new YieldingScheduler() },
    ...{ log, wall: () => startedAt + at },
  })
  const segmenter = new Segmenter(files, soundAssembly(opus, () => {})?.format, 48_000, true)
  const [video, audio] = [new RawTap(), new RawTap()]
  const input = { segmenter, now, failed, isMuted: () => false }
  TrackInput.picture(video, { codec: film.codec, clockRate: 90_000, channels: 0, parameters: new Map() }, input)
  TrackInput.sound(audio, opus, input)
  let [number, sounds] = [0, 0]
  for (let index = 0; index < pictures; index++) {
    at = aheadMs + index * everyMs
    const picture = film.pictures[index % film.pictures.length] ?? expect.fail('the film is empty')
    const shown = Math.floor(index / film.pictures.length) * film.pictures.length + picture.at
    for (const { payload, marker } of usualPacker(picture, film, index))
      video.push(packet(payload, number++, (shown * 90_000) / filmRate, marker))
    for (; sounds * opusSilenceMs <= at && sounds * opusSilenceMs < pictures * everyMs; sounds++)
      audio.push(packet(opusSilence, sounds, sounds * opusSilenceMs * 48, false))
    segmenter.tick(at)
    if (cutAt.includes(index)) segmenter.endAtKeyFrame('length')
    if (index % filmRate === 0) await nextTurn()
  }
  segmenter.end('stopped', at)
  await files.end()
  await disk.close()
  site.index.add(segments)
  return { segments: segments.toSorted((one, other) => one.startedAt - other.startedAt), pictures, sounds }
}

/** Numbers of the packets, and of the pictures that can be decoded. */
async function count(path: string): Promise<{ pictures: number; decoded: number; sounds: number }> {
  const shown = ['-show_entries', 'stream=codec_type,nb_read_packets,nb_read_frames', '-of', 'json']
  const { stdout, stderr } = await run('ffprobe', ['-v', 'error', '-count_packets', '-count_frames', ...shown, path])
  expect(stderr).toBe('')
  const { streams } = JSON.parse(stdout) as { streams: Record<string, string>[] }
  const of = (kind: string, name: string): number =>
    Number(streams.find(({ codec_type }) => codec_type === kind)?.[name])
  return {
    pictures: of('video', 'nb_read_packets'),
    decoded: of('video', 'nb_read_frames'),
    sounds: of('audio', 'nb_read_packets'),
  }
}

/** Pictures behind which a new segment is due: the next key picture of `openGroupsH265` has leading pictures. */
const cutAt = [80, 150]

const films: readonly [what: string, film: FilmName][] = [
  ['open groups of H.265', 'openGroupsH265'],
  ['closed groups of H.264 with B-frames', 'bFrames'],
]

/** Writes the playlist of segments beside their files as they are served, and returns its path. */
async function playlist(site: RecordingsSite, segments: readonly Segment[]): Promise<string> {
  const fragments: LiveFragment[] = []
  for (const segment of segments) {
    const { init, fragments: found, units } = await site.playback.tables.of({ ...segment, stored: 'local' })
    const name = segment.startedAt
    const bytes = await readFile(join(site.folder, segment.file))
    moveTimes(bytes, name / 1_000, units.timescales)
    await writeFile(join(site.folder, `${name}.mp4`), bytes)
    fragments.push(...found.map((each, index) => ({ ...each, segment: name, init, first: index === 0 })))
  }
  const path = join(site.folder, 'index.m3u8')
  const head = ['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-TARGETDURATION:4', '#EXT-X-PLAYLIST-TYPE:VOD']
  await writeFile(path, [...head, ...mediaLines(fragments), '#EXT-X-ENDLIST', ''].join('\n'))
  return path
}

test.each(films)('export and HLS hold every picture of %s across the segments', async (_what, name) => {
  const site = await recordingsSite()
  const film = await fieldFilm(name)
  const sent = await recordFilm(site, film, 4)
  expect(sent.segments.map(({ end }) => end)).toEqual(['length', 'length', 'stopped'])
  const recorded = await Promise.all(sent.segments.map(({ file }) => count(join(site.folder, file))))
  const sum = (kind: 'pictures' | 'sounds'): number => recorded.reduce((total, each) => total + each[kind], 0)
  expect(sum('pictures')).toBe(sent.pictures)
  expect(sum('sounds')).toBe(sent.sounds)
  const { files, index, playback } = site
  const exports = new SpanExport({ files, index, tables: playback.tables, ffmpeg: async () => undefined })
  const path = insideOf(site.folder, 'export.mp4')
  const wish = { ...stream, picture: true, sound: true, from: startedAt - 1_000, to: startedAt + 200_000 }
  await exports.writeFile(wish, path)
  const all = { pictures: sent.pictures, decoded: sent.pictures, sounds: sent.sounds }
  expect(await count(path)).toEqual(all)
  expect(await count(await playlist(site, sent.segments))).toEqual(all)
})

test('H.264 with recovery points and a single IDR picture is recorded in segments, and exported whole', async () => {
  const site = await recordingsSite()
  const sent = await recordFilm(site, await fieldFilm('singleKey'), 1)
  expect(sent.segments.map(({ end }) => end)).toEqual(['length', 'length', 'stopped'])
  const { files, index, playback } = site
  const exports = new SpanExport({ files, index, tables: playback.tables, ffmpeg: async () => undefined })
  const path = insideOf(site.folder, 'export.mp4')
  const wish = { ...stream, picture: true, sound: true, from: startedAt - 1_000, to: startedAt + 200_000 }
  await exports.writeFile(wish, path)
  expect(await count(path)).toEqual({ pictures: sent.pictures, decoded: sent.pictures, sounds: sent.sounds })
})

test('playback of open groups begins with the requested group', async () => {
  const site = await recordingsSite()
  const { segments } = await recordFilm(site, await fieldFilm('openGroupsH265'), 2)
  const [segment = expect.fail('no segment')] = segments
  const table = await site.playback.tables.of({ ...segment, stored: 'local' })
  const { start } = table.fragments[1] ?? expect.fail('one fragment')
  expect(spanPiecesOf(table, start + 0.2, start + 0.4, 1e9)).toMatchObject({ from: start })
})

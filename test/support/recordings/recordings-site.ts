import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { SegmentFiles } from '../../../server/recordings/playback/segment-sources.ts'
import { RecordingPlayback } from '../../../server/recordings/playback/playback-handler.ts'
import type {
  PlaybackCaller,
  PlaybackPort,
  WatchedRecording,
} from '../../../server/recordings/playback/playback-port.ts'
import { maySee } from './may-see.ts'
import { MemoryIndex } from './memory-index.ts'
import { record, type Recording } from './recorded-files.ts'

/** A folder with recordings, their index and their playback. */
export interface RecordingsSite {
  folder: string
  files: SegmentFiles
  index: MemoryIndex
  playback: RecordingPlayback
  port: Pick<PlaybackPort, 'mayWatch' | 'watched'>
  /** Reports of who watched what. */
  watched: WatchedRecording[]
  /** Records a film, and returns the ids of its segments. */
  record(recording: Omit<Recording, 'folder'>): Promise<number[]>
  /** Asks the playback as an operator, or as somebody else. */
  ask(path: string, headers?: Record<string, string>, caller?: Partial<PlaybackCaller>): Promise<Response>
}

/** Makes an empty folder of recordings that is removed with the test. */
export async function recordingsSite(): Promise<RecordingsSite> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-recordings-'))
  const unread: Response[] = []
  onTestFinished(async () => {
    for (const { body } of unread) if (body?.locked === false) await body.cancel()
    await rm(folder, { recursive: true, force: true })
  })
  const index = new MemoryIndex()
  const files = new SegmentFiles(folder)
  const watched: WatchedRecording[] = []
  const port = { mayWatch: maySee, watched: (event: WatchedRecording) => void watched.push(event) }
  const playback = new RecordingPlayback({ files, index, port })
  const operator: PlaybackCaller = {
    role: 'operator',
    account: 'olivia',
    accountId: 'olivia',
    address: '10.0.0.1',
    scoped: true,
  }
  return {
    folder,
    files,
    index,
    playback,
    port,
    watched,
    record: async (recording) => index.add(await record({ ...recording, folder })),
    ask: async (path, headers = {}, caller = {}) => {
      const request = new Request(new URL(path, 'http://console.invalid'), { headers })
      const answer = await playback.answer(request, { ...operator, ...caller })
      unread.push(answer)
      return answer
    },
  }
}

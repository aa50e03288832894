import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { people } from '../../../server/bin/people-command.ts'
import { MediaSite } from '../../support/sites/media-site.ts'

/** A site with an embedded node, and test people who join it from outside through its API. */
describe('roomdesk people', () => {
  let site: MediaSite
  let recordings: string

  beforeAll(async () => {
    recordings = await mkdtemp(join(tmpdir(), 'roomdesk-people-'))
    site = await MediaSite.start({ recordings })
  })
  afterAll(async () => {
    await site[Symbol.asyncDispose]()
    await rm(recordings, { recursive: true })
  })

  /** Runs the command until the test ends it. */
  function start(...words: string[]) {
    const lines: string[] = []
    const ended = new AbortController()
    const keys = ['--access-key=lobby', '--secret-key=a secret of the tests']
    const code = people({
      arguments: ['--media', site.api.media, ...keys, ...words],
      environment: {},
      version: '0',
      signal: ended.signal,
      print: (line) => void lines.push(line),
      warn: (line) => void lines.push(line),
    })
    const present = async (count: number): Promise<void> => {
      await vi.waitFor(() => expect(lines.filter((line) => line.includes(' present '))).toHaveLength(count), 40_000)
    }
    return { lines, code, present, end: () => ended.abort(new Error('ended')) }
  }

  const stats = async (room_id: string) => site.rpc('media.stats', { room_id })

  test('people in two rooms are listed, send, watch each other, and leave no room behind', async () => {
    const before = (await site.rpc('rooms.list', {})).total
    const run = start('--people=4', '--rooms=2')
    await run.present(4)
    const rooms = [...new Set(run.lines.map((line) => line.split(' ')[2] ?? ''))]
    expect(rooms).toHaveLength(2)
    for (const room_id of rooms) {
      const nameOfPerson: unknown = expect.stringMatching(/^Test person [1-4]$/)
      await expect
        .poll(async () => (await site.rpc('rooms.get', { room_id })).users.map(({ user_name }) => user_name))
        .toEqual([nameOfPerson, nameOfPerson])
      await vi.waitFor(async () => {
        const { streams } = await stats(room_id)
        expect(streams).toHaveLength(2)
        for (const { video_codec, audio_codec, frames, viewers } of streams) {
          expect({ video_codec, audio_codec, viewers }).toEqual({
            video_codec: 'H264',
            audio_codec: 'OPUS',
            viewers: 1,
          })
          expect(frames).toBeGreaterThan(12)
        }
      }, 40_000)
    }
    run.end()
    expect(await run.code).toBe(0)
    expect(run.lines.at(-1)).toMatch(/^4 of 4 people joined; packets: [1-9]\d+ sent, [1-9]\d+ received, \d+ lost$/)
    expect((await site.rpc('rooms.list', {})).total).toBe(before)
  })

  test('people of a room talk in turns, and only one of them is heard', async () => {
    const room = await site.api.createRoom()
    const run = start('--people=2', `--room=${room}`, '--send=sound')
    await run.present(2)
    const heard = new Set<string>()
    await vi.waitFor(
      async () => {
        for (const { user_id, speaking } of (await stats(room)).connections) if (speaking) heard.add(user_id)
        expect(heard.size).toBe(2)
      },
      { timeout: 40_000, interval: 300 },
    )
    run.end()
    await run.code
    expect(await site.users(room)).toEqual([])
  })

  test('a removed person stays out, and the others stay', async () => {
    const room = await site.api.createRoom()
    const run = start('--people=2', `--room=${room}`, '--send=nothing', '--watch=0')
    await run.present(2)
    const [first = '', second = ''] = await site.users(room)
    const { ret } = await site.api.get('/rtc/force_offline_mcu', { room_id: room, user_id: first })
    expect(ret).toBe(0)
    await vi.waitFor(() => expect(run.lines).toContain(`${first} removed ${room}`), 20_000)
    expect(await site.users(room)).toEqual([second])
    run.end()
    await run.code
  })

  test('a person is recorded like any other', async () => {
    const room = await site.api.createRoom()
    const run = start('--people=1', `--room=${room}`)
    await run.present(1)
    const [user_id = ''] = await site.users(room)
    await vi.waitFor(async () => expect((await stats(room)).streams).toHaveLength(1), 40_000)
    const { id } = await site.rpc('orders.record', { room_id: room, user_id })
    await vi.waitFor(async () => expect((await stats(room)).streams[0]?.frames).toBeGreaterThan(40), 15_000)
    await site.rpc('orders.stop_recording', { id })
    await vi.waitFor(async () => {
      const [recording] = (await site.rpc('orders.recordings', { room_id: room })).items
      expect(recording).toMatchObject({ state: 'available', files: [expect.objectContaining({})] })
    }, 40_000)
    run.end()
    await run.code
  })

  test('on a lossy link, with two sizes of the picture, others still receive pictures', async () => {
    const run = start('--people=2', '--simulcast', '--loss=5', '--seed=7')
    await run.present(2)
    const [room = ''] = run.lines.map((line) => line.split(' ')[2])
    await vi.waitFor(async () => {
      const { streams } = await stats(room)
      expect(streams.map(({ frames, viewers }) => frames > 24 && viewers === 1)).toEqual([true, true])
    }, 40_000)
    run.end()
    expect(await run.code).toBe(0)
    const [, received, lost] = /(\d+) received, (\d+) lost/.exec(run.lines.at(-1) ?? '') ?? []
    expect(Number(received)).toBeGreaterThan(100)
    expect(Number(lost)).toBeGreaterThan(0)
  })

  test('wrong flags and keys are named with one sentence', async () => {
    await expect(start('--people=0').code).rejects.toThrow('--people: ')
    await expect(start('--arrive=soon').code).rejects.toThrow('--arrive: must be at-once, evenly=1…86400')
    await expect(start('--people=many').code).rejects.toThrow('--people: ')
    await expect(start('--secret-key=wrong').code).rejects.toThrow('does not accept this key pair')
  })

  test('an unknown room is a problem that is named, and the exit code says that nobody joined', async () => {
    const run = start('--people=1', '--room=unknown', '--for=1')
    expect(await run.code).toBe(1)
    expect(run.lines.join('\n')).toMatch(/0 of 1 people joined[\s\S]*latest problem: .*refused join_url with 404/)
  })
})

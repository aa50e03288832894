import { describe, expect, test } from 'vitest'
import type { ProcedureInput, ProcedureOutput } from '../../../shared/console/contract.ts'
import { openControllerSite, password } from '../../support/sites/controller-site.ts'
import { shared } from '../../support/fixtures.ts'

const secret = 'a secret key of the tests'

describe('The search over everything', () => {
  const site = shared(() =>
    openControllerSite({
      credentials: [{ label: 'Front desk', access_key: 'desk-key', secret_key: secret, p2p: false }],
      nodes: [{ name: 'Basement', kind: 'simulated', addresses: [{ tag: 'local', addr: '10.0.0.5:7082' }] }],
    }),
  )
  const key = shared(() => site().key())

  const find = (input: ProcedureInput<'search.find'>, who = key()): Promise<ProcedureOutput<'search.find'>> =>
    site().call(who, 'search.find', input)
  const room = async (topic: string, owner = 'ann'): Promise<string> =>
    (await site().call(key(), 'rooms.create', { topic, owner_id: owner })).room_id

  test('finds rooms by number, topic and owner, whatever the case, the diacritics or the script', async () => {
    const zurich = await room('Café Zürich', 'Élodie')
    const beijing = await room('北京会议室三')
    const found = async (text: string): Promise<string[]> =>
      (await find({ text })).rooms.items.map((one) => one.room_id)
    for (const text of [zurich, zurich.slice(3, 8), 'cafe zurich', 'ZÜRICH', 'urich', 'elodie', 'zurich elodie'])
      expect([text, await found(text)]).toEqual([text, [zurich]])
    for (const text of ['会议', '议室三', '京', '北京 三']) expect([text, await found(text)]).toEqual([text, [beijing]])
    for (const text of ['', '  ', 'zurich beijing', '海', 'zzz']) expect([text, await found(text)]).toEqual([text, []])
  })

  test('shows a created, renamed or deleted room at once, better matches first, and says when there are more', async () => {
    const board = await room('Weekly board')
    const boarding = await room('Onboarding')
    const exact = await room('board')
    const ids = async (): Promise<string[]> => (await find({ text: 'board' })).rooms.items.map((one) => one.room_id)
    expect(await ids()).toEqual([exact, board, boarding])
    await site().call(key(), 'rooms.update', { room_id: boarding, topic: 'Board of directors' })
    expect(await ids()).toEqual([exact, boarding, board])
    await site().call(key(), 'rooms.delete', { room_ids: [exact, board] })
    expect(await ids()).toEqual([boarding])

    for (let number = 0; number < 8; number++) await room(`Shift ${number}`)
    const { rooms } = await find({ text: 'shift', limit: 5 })
    expect([rooms.items.map(({ topic }) => topic), rooms.more]).toEqual([
      ['Shift 7', 'Shift 6', 'Shift 5', 'Shift 4', 'Shift 3'],
      true,
    ])
    expect((await find({ text: 'shift', limit: 8 })).rooms.more).toBe(false)
    expect((await site().result(key(), 'search.find', { text: 'x'.repeat(201) })).status).toBe(400)
  })

  test('finds people while they are in a room, cameras, nodes, credentials without secrets, and recent events', async () => {
    const lobby = await room('Lobby')
    await site().call(key(), 'lab.join', { room_id: lobby, user_id: 'u-77', user_name: 'Marie Curie' })
    expect((await find({ text: 'marie' })).people.items).toEqual([
      { room_id: lobby, topic: 'Lobby', user_id: 'u-77', user_name: 'Marie Curie' },
    ])
    await site().call(key(), 'lab.leave', { room_id: lobby, user_id: 'u-77' })
    expect((await find({ text: 'marie' })).people.items).toEqual([])

    expect((await find({ text: 'base' })).nodes.items).toMatchObject([{ name: 'Basement', kind: 'simulated' }])
    const { credentials } = await find({ text: 'desk' })
    expect(credentials.items).toEqual([{ access_key: 'desk-key', label: 'Front desk', enabled: true }])
    expect((await find({ text: secret })).credentials.items).toEqual([])
    const kinds = async (): Promise<string[]> =>
      (await find({ text: lobby, kinds: ['events'] })).events.items.map(({ kind }) => kind)
    await expect.poll(kinds).toContain('site.changed')
    expect((await find({ text: lobby, kinds: ['events'] })).rooms.items).toEqual([])
    // The console adds the sentences of its reader's language that contain a word.
    const read = async (sentences: string[]): Promise<string[]> => {
      const event_words = [
        { text: 'angelegt', sentences, names: [] },
        { text: 'lobby', sentences: [], names: [] },
      ]
      return (await find({ text: 'angelegt lobby', event_words })).events.items.map(({ kind }) => kind)
    }
    expect(await read([])).toEqual([])
    expect(await read(['changes.rooms.create'])).toEqual(['site.changed'])
  })

  test('finds cameras by their address without login; a viewer only by what a viewer sees', async () => {
    const gate = await room('Gate')
    const camera = { roomId: gate, userId: 'cam-1', userName: 'North gate', join: 'background' } as const
    await site().call(key(), 'devices.create', {
      ...camera,
      userAddress: 'rtsp://admin:hunter22@10.1.2.3/key/S3cretPath99',
    })
    const byOperator = async (text: string): Promise<number> => (await find({ text })).cameras.items.length
    expect([await byOperator('10.1.2.3'), await byOperator('s3cret'), await byOperator('hunter22')]).toEqual([1, 1, 0])
    expect(JSON.stringify(await find({ text: 'north gate' }))).not.toContain('S3cret')

    await site().call(key(), 'accounts.create', { name: 'guard', password, role: 'viewer' })
    const guard = await site().signIn('guard')
    const byViewer = async (text: string): Promise<number> => (await find({ text }, guard)).cameras.items.length
    expect([await byViewer('10.1.2.3'), await byViewer('north'), await byViewer('s3cret')]).toEqual([1, 1, 0])
  })

  test('finds with a token only what its scopes list', async () => {
    await site().call(key(), 'devices.create', {
      ...{ roomId: await room('Cellar'), userId: 'cam-2', userName: 'Cellar door', join: 'background' as const },
      userAddress: 'rtsp://10.1.2.4/cellar',
    })
    const { id } = await site().call(key(), 'accounts.create', { name: 'robot', password, role: 'admin' })
    const { token } = await site().call(key(), 'accounts.create_token', {
      id,
      label: 'cameras',
      scopes: ['devices:read'],
    })
    const { rooms, people, cameras, credentials, events } = await find({ text: 'cellar' }, token)
    expect(cameras.items).toHaveLength(1)
    expect([rooms.items, people.items, credentials.items, events.items]).toEqual([[], [], [], []])
  })
})

import { describe, expect, onTestFinished, test } from 'vitest'
import type { ToPerson } from '../../../../shared/media/signal.ts'
import { startTestCamera } from '../../../support/camera/test-camera.ts'
import { type NodeReport } from '../../../support/media/media-node.ts'
import { SignalClient } from '../../../support/media/signal-client.ts'
import { sharedMediaNode } from '../../../support/fixtures.ts'

const node = sharedMediaNode({ settings: { resume_ms: 300 } })

async function enter(roomId: string, userId: string, role: 'member' | 'host' = 'member'): Promise<SignalClient> {
  const token = node().token(roomId, { userId, userName: userId.toUpperCase(), role })
  const client = await SignalClient.join(node().url, roomId, { token })
  onTestFinished(() => client.drop())
  return client
}

/** Reads the state of a user from the last message to another one. */
const person = (client: SignalClient, userId: string) =>
  client.messages.findLast(
    (message): message is Extract<ToPerson, { type: 'person_changed' }> =>
      message.type === 'person_changed' && message.person.user_id === userId,
  )?.person

/** Reads the hands of a room's users as the controller does. */
const hands = async (roomId: string) => (await node().request('users', { roomId })).users.map(({ hand }) => hand)

/** Opens a room with the three users of each story. */
async function meeting(roomId: string): Promise<{ ann: SignalClient; bo: SignalClient; cy: SignalClient }> {
  await node().openRoom(roomId)
  return { ann: await enter(roomId, 'ann', 'host'), bo: await enter(roomId, 'bo'), cy: await enter(roomId, 'cy') }
}

test('guests with the same name are distinguished, and the host keeps the name that a guest had first', async () => {
  await node().openRoom('names')
  const guest = async (browser: string): Promise<SignalClient> => {
    const joined = await SignalClient.join(node().url, 'names', {
      token: node().token('names'),
      user_name: 'Ann',
      browser,
    })
    onTestFinished(() => joined.drop())
    return joined
  }
  const [first, second] = [await guest('a'.repeat(32)), await guest('b'.repeat(32))]
  expect([first, second].map(({ joined }) => joined.you.user_name)).toEqual(['Ann', 'Ann (2)'])
  const token = node().token('names', { userId: 'host', userName: 'Ann', role: 'host' })
  const host = await SignalClient.join(node().url, 'names', { token })
  onTestFinished(() => host.drop())
  expect(host.joined.you.user_name).toBe('Ann')
  await expect.poll(() => person(second, first.joined.you.user_id)?.user_name).toBe('Ann (3)')
  first.send({ type: 'chat', text: 'hello' })
  await expect
    .poll(() => second.messages.find((message) => message.type === 'chat'))
    .toMatchObject({ line: { user_name: 'Ann (3)' } })
})

describe('hands', () => {
  test('are raised in an order that everybody sees, and kept during a short absence; late users see them', async () => {
    const { ann, bo, cy } = await meeting('hands')
    cy.send({ type: 'hand', raised: true })
    await expect.poll(() => person(ann, 'cy')?.hand).toBe(1)
    bo.send({ type: 'hand', raised: true })
    await expect.poll(() => person(ann, 'bo')?.hand).toBe(2)
    cy.send({ type: 'hand', raised: true })
    cy.drop()
    await expect.poll(() => person(ann, 'cy')?.away).toBe(true)
    expect(person(ann, 'cy')?.hand).toBe(1)
    const di = await enter('hands', 'di')
    expect(di.joined.people.map(({ user_id, hand }) => [user_id, hand])).toEqual([
      ['ann', 0],
      ['bo', 2],
      ['cy', 1],
      ['di', 0],
    ])
  })

  test('are lowered by their users, or by the host, but not by members; speaking lowers none', async () => {
    const { ann, bo, cy } = await meeting('lower')
    for (const client of [bo, cy]) client.send({ type: 'hand', raised: true })
    await expect.poll(() => [person(ann, 'bo')?.hand, person(ann, 'cy')?.hand]).not.toContain(undefined)
    bo.send({ type: 'state', audio: true, video: false })
    await expect.poll(() => person(ann, 'bo')?.audio).toBe(true)
    expect(person(ann, 'bo')?.hand).toBeGreaterThan(0)
    expect(await hands('lower')).toEqual([0, expect.any(Number), expect.any(Number)])
    bo.send({ type: 'hand', raised: false })
    await expect.poll(() => person(ann, 'bo')?.hand).toBe(0)
    expect((await hands('lower')).slice(0, 2)).toEqual([0, 0])
    const isBo = (event: NodeReport) =>
      event.type === 'joined' && event.roomId === 'lower' && event.user.userId === 'bo'
    expect(await node().event((event) => isBo(event) && event.type === 'joined' && event.user.hand > 0)).toBeDefined()
    bo.send({ type: 'lower_hand', user_id: 'cy' })
    expect(await bo.next('error')).toMatchObject({ reason: 'forbidden' })
    ann.send({ type: 'lower_hand', user_id: 'cy' })
    expect(await cy.next('hand_lowered')).toEqual({ type: 'hand_lowered', by: 'ann' })
    for (const client of [bo, cy]) client.send({ type: 'hand', raised: true })
    await expect.poll(() => (person(ann, 'bo')?.hand ?? 0) * (person(ann, 'cy')?.hand ?? 0)).toBeGreaterThan(0)
    ann.send({ type: 'lower_hand' })
    await expect.poll(() => [person(bo, 'bo')?.hand, person(bo, 'cy')?.hand]).toEqual([0, 0])
  })
})

describe('reactions', () => {
  test('reach everybody together, the latest of each user; a user who sends too many is notified, and stays', async () => {
    const { ann, bo, cy } = await meeting('reactions')
    bo.send({ type: 'react', reaction: 'laugh' })
    bo.send({ type: 'react', reaction: 'heart' })
    cy.send({ type: 'react', reaction: 'clap' })
    for (const client of [ann, bo]) {
      expect(
        (await client.next('reactions')).list.toSorted((one, other) => one.user_id.localeCompare(other.user_id)),
      ).toEqual([
        { user_id: 'bo', reaction: 'heart' },
        { user_id: 'cy', reaction: 'clap' },
      ])
    }
    for (let sent = 0; sent < 20; sent += 1) cy.send({ type: 'react', reaction: 'thumbs_up' })
    expect(await cy.next('error')).toMatchObject({ reason: 'tooMany' })
    cy.send({ type: 'ping', id: 7 })
    await cy.next('pong')
    bo.send({ type: 'react', reaction: 'a picture of mine' })
    expect(await bo.next('error')).toMatchObject({ reason: 'badRequest' })
    const told = ann.messages.filter(({ type }) => type === 'reactions').length
    expect(told).toBeLessThanOrEqual(3)
  })
})

describe('the host of a room', () => {
  test('mutes every member who speaks; they unmute themselves, and everybody sees who muted them', async () => {
    const { ann, bo, cy } = await meeting('mute')
    const second = await enter('mute', 'di', 'host')
    for (const client of [ann, bo, second]) client.send({ type: 'state', audio: true, video: true })
    await expect
      .poll(() => [person(cy, 'ann')?.audio, person(cy, 'bo')?.audio, person(cy, 'di')?.audio])
      .toEqual([true, true, true])
    cy.send({ type: 'mute_all' })
    expect(await cy.next('error')).toMatchObject({ reason: 'forbidden' })
    ann.send({ type: 'mute_all' })
    expect(await bo.next('muted')).toEqual({ type: 'muted', by: 'ann', kind: 'audio' })
    await expect.poll(() => person(cy, 'bo')).toMatchObject({ audio: false, video: true })
    expect([person(cy, 'ann')?.audio, person(cy, 'di')?.audio]).toEqual([true, true])
    expect(await node().event((event) => event.type === 'hostActed' && event.act === 'mutedAll')).toMatchObject({
      roomId: 'mute',
      by: { userId: 'ann', userName: 'ANN' },
      count: 1,
    })
    bo.send({ type: 'state', audio: true, video: true })
    await expect.poll(() => person(cy, 'bo')?.audio).toBe(true)
  })

  test('locks and unlocks it through the controller, which stores the lock and the user who asked', async () => {
    const { ann, bo } = await meeting('lock')
    bo.send({ type: 'lock', locked: true })
    expect(await bo.next('error')).toMatchObject({ reason: 'forbidden' })
    node().locks = async ({ roomId, locked }) => {
      await node().openRoom(roomId, { locked })
      return true
    }
    ann.send({ type: 'lock', locked: true })
    expect(await node().event(({ type }) => type === 'lock_room')).toMatchObject({
      roomId: 'lock',
      locked: true,
      by: { userId: 'ann', userName: 'ANN' },
    })
    expect(await bo.next('room_changed')).toMatchObject({ locked: true })
    await expect(enter('lock', 'di')).rejects.toThrow('403 locked')
    // If the controller fails, the host is notified.
    node().locks = () => Promise.resolve(false)
    ann.send({ type: 'lock', locked: false })
    expect(await ann.next('error')).toMatchObject({ reason: 'busy' })
  })

  test('and all previous users can rejoin a locked room; removed ones cannot', async () => {
    const { ann, bo, cy } = await meeting('back')
    await node().openRoom('back', { locked: true })
    const link = (userId: string) => ({ token: node().token('back', { userId }) })
    bo.send({ type: 'leave' })
    await bo.closed
    await expect(SignalClient.join(node().url, 'back', link('bo'))).rejects.toThrow('403 locked')
    const back = await SignalClient.join(node().url, 'back', { ...link('bo'), pass: bo.joined.pass })
    expect(back.joined.room.locked).toBe(true)
    onTestFinished(() => back.drop())
    ann.send({ type: 'remove', user_id: 'cy' })
    expect(await cy.next('removed')).toEqual({ type: 'removed', reason: 'kicked' })
    expect(await node().event(({ type }) => type === 'removed')).toMatchObject({
      userId: 'cy',
      userName: 'CY',
      by: { userId: 'ann', userName: 'ANN' },
    })
    await expect(SignalClient.join(node().url, 'back', { ...link('cy'), pass: cy.joined.pass })).rejects.toThrow(
      '403 removed',
    )
  })

  test('ends it for everybody: they read the reason and may rejoin a new meeting at once; the camera stays', async () => {
    await using camera = await startTestCamera()
    const { ann, bo, cy } = await meeting('end')
    await node().addDevice('end', 'gate', camera.url)
    bo.send({ type: 'chat', text: 'ours alone' })
    await cy.next('chat')
    bo.send({ type: 'end_meeting' })
    expect(await bo.next('error')).toMatchObject({ reason: 'forbidden' })
    ann.send({ type: 'end_meeting' })
    for (const client of [ann, bo, cy]) {
      expect(await client.next('removed')).toEqual({ type: 'removed', reason: 'ended' })
      await client.closed
    }
    expect(await node().userIds('end')).toEqual(['gate'])
    expect(await node().event((event) => event.type === 'hostActed' && event.act === 'ended')).toMatchObject({
      count: 3,
    })
    const again = await enter('end', 'bo')
    expect(again.joined).toMatchObject({ chat: [], people: [{ user_id: 'gate' }, { user_id: 'bo' }] })
  })
})

describe('a lost camera', () => {
  test('is shown as lost, also to users who join later; it returns, also into a locked room; the operator removes it for good', async () => {
    await using camera = await startTestCamera()
    await using second = await startTestCamera()
    await node().openRoom('cameras')
    await node().addDevice('cameras', 'gate', camera.url, { userName: 'Gate' })
    const ann = await enter('cameras', 'ann')
    camera.close()
    expect(await ann.next('person_left')).toEqual({ type: 'person_left', user_id: 'gate', lost: true })
    const bo = await enter('cameras', 'bo')
    expect(bo.joined.lost_cameras).toMatchObject([{ user_id: 'gate', user_name: 'Gate', device: true }])
    expect(await node().userIds('cameras')).toEqual(['ann', 'bo'])
    await node().openRoom('cameras', { locked: true })
    await node().addDevice('cameras', 'gate', second.url, { userName: 'Gate' })
    expect(await bo.next('person_joined')).toMatchObject({ person: { user_id: 'gate' } })
    await node().openRoom('cameras')
    expect((await enter('cameras', 'cy')).joined.lost_cameras).toEqual([])
    ann.forget()
    second.close()
    await ann.next('person_left')
    ann.forget()
    await node().request('remove_device', { roomId: 'cameras', userId: 'gate' })
    expect(await ann.next('person_left')).toEqual({ type: 'person_left', user_id: 'gate' })
    expect((await enter('cameras', 'di')).joined.lost_cameras).toEqual([])
  })
})

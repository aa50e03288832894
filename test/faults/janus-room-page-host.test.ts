import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { RoomSite, type Visitor } from '../support/sites/room-site.ts'
import { type JanusServer, startJanus } from '../support/janus/janus-server.ts'
import { RoomPeer } from '../support/janus/room-peers.ts'

/** A host's actions in rooms on a Janus server with tokens, on the room page. */
let janus: JanusServer
let site: RoomSite
let visitors: Visitor[] = []
beforeAll(async () => {
  janus = await startJanus({ tokenSecret: 'a secret that signs tokens' })
  site = await RoomSite.start({ nodes: [janus.asNode()] })
})
afterEach(async () => {
  for (const visitor of visitors) {
    expect(visitor.problems).toEqual([])
    await visitor.close()
  }
  visitors = []
})
afterAll(async () => {
  await site[Symbol.asyncDispose]()
  await janus[Symbol.asyncDispose]()
})

const enter = async (room: string, user_id: string, user_name: string, role: 'host' | 'member' = 'member') => {
  const visitor = await site.join(await site.link(room, { user_id, user_name, role }))
  visitors.push(visitor)
  return visitor
}
const menu = async (visitor: Visitor, item: string): Promise<void> => {
  await visitor.button('More').click()
  await visitor.page.getByRole('menuitem', { name: item }).click()
}
const users = async (room_id: string) => (await site.controller.rpc('rooms.get', { room_id })).users

test('the host mutes everybody, locks the room, and ends the meeting; current users can reload into the locked room', async () => {
  const room = await site.room({ topic: 'Planning' })
  const ann = await enter(room, 'ann', 'Ann', 'host')
  const bo = await enter(room, 'bo', 'Bo')
  await Promise.all([ann.sees('Bo'), bo.sees('Ann')])
  await expect
    .poll(async () => (await users(room)).map(({ user_id, role }) => [user_id, role]))
    .toEqual([
      ['ann', 'host'],
      ['bo', 'member'],
    ])
  await menu(ann, 'Mute everybody')
  await bo.page.getByText('Ann muted you').waitFor()
  await ann.tile('Bo').getByText('microphone off').waitFor({ state: 'attached' })
  await bo.button('Unmute').click()
  await ann.tile('Bo').getByText('microphone off').waitFor({ state: 'detached' })

  await menu(ann, 'Lock the room')
  await bo.page.getByText('The room is locked').waitFor()
  const dora = await site.open(await site.link(room), { equipment: 'none' })
  await dora.page.getByLabel('Your name').fill('Dora')
  await dora.page.getByRole('button', { name: /^Join/ }).click()
  await dora.page.getByRole('heading', { name: 'The room is locked' }).waitFor()
  await dora.close()
  await bo.page.reload()
  await bo.enter()
  await Promise.all([ann.sees('Bo'), bo.sees('Ann')])

  await menu(ann, 'End the meeting for everybody')
  await ann.page.getByRole('dialog').getByRole('button', { name: 'End for everybody' }).click()
  await ann.page.getByRole('heading', { name: 'You ended the meeting' }).waitFor()
  await bo.page.getByRole('heading', { name: 'The host ended the meeting' }).waitFor()
  await expect.poll(() => users(room)).toEqual([])
}, 180_000)

test('the host admits a waiting guest, turns one away, and removes a user', async () => {
  const room = await site.room({ topic: 'Interview', waiting_room: true })
  const host = await enter(room, 'ann', 'Ann', 'host')
  const guest = async (name: string): Promise<Visitor> => {
    const visitor = await site.open(await site.link(room))
    visitors.push(visitor)
    await visitor.page.getByLabel('Your name').fill(name)
    await visitor.page.getByRole('button', { name: /^Join/ }).click()
    await visitor.page.getByRole('heading', { name: 'Waiting for the host to let you in' }).waitFor()
    return visitor
  }
  const [cy, eve] = [await guest('Cy'), await guest('Eve')]
  await host.page.getByText('2 people are waiting to be let in.').waitFor()
  // Waiting guests are not in the room.
  expect((await users(room)).map(({ user_id }) => user_id)).toEqual(['ann'])
  await host.page.getByRole('button', { name: 'Show' }).click()
  const waiting = host.page.getByRole('region', { name: 'Waiting' })
  await waiting.getByRole('button', { name: 'Turn away: Eve' }).click()
  await eve.page.getByRole('heading', { name: 'You were not let in' }).waitFor()
  await waiting.getByRole('button', { name: 'Let in: Cy' }).click()
  await Promise.all([cy.sees('Ann'), host.sees('Cy')])

  await host.page
    .getByRole('region', { name: /^People/ })
    .getByRole('button', { name: 'Actions for Cy' })
    .click()
  await host.page.getByRole('menuitem', { name: 'Remove from the room' }).click()
  await host.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await cy.page.getByText('You were removed').waitFor()
  await expect.poll(async () => (await users(room)).map(({ user_id }) => user_id)).toEqual(['ann'])
}, 180_000)

test('a client of the Janus API is a user like those of the page: listed, muted and removed by the host', async () => {
  const room = await site.room({ topic: 'Mixed' })
  const ann = await enter(room, 'ann', 'Ann', 'host')
  const given = await site.controller.rpc('media.participant_token', {
    room_id: room,
    user_id: 'zoe',
    user_name: 'Zoe',
  })
  const zoe = await RoomPeer.join(janus, given.room, given.id, { token: given.token, roomToken: given.room_token })
  const sender = await zoe.publish()
  await zoe.until('ann')
  const viewer = await zoe.watch('ann')
  expect(viewer).toBeDefined()
  await ann.tile('zoe').waitFor()
  await menu(ann, 'Mute everybody')
  await ann.tile('zoe').getByText('microphone off').waitFor({ state: 'attached' })
  await site.controller.rpc('rooms.kick', { room_id: room, user_id: 'zoe' })
  await ann.tile('zoe').waitFor({ state: 'detached' })
  await sender.close()
  await zoe.leave()
}, 120_000)

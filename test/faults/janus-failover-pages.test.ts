import { expect, test } from 'vitest'
import { RoomSite, type Visitor } from '../e2e/room-page-visit.ts'
import { ControllersSite } from '../support/controllers/controllers-site.ts'
import { startJanus } from '../support/janus/janus-server.ts'

/** Pictures that stand still for less are those of a busy machine, in milliseconds. */
const unnoticedMs = 600

/** People of the room page in rooms on Janus servers, while the site gets another leader. */

/** What a visit is like from now on: the words that the page tells by itself, the connections that it makes, and how long pictures stand still at most. */
async function lookedAt(visitor: Visitor, ...names: string[]) {
  const words = await visitor.watchWords()
  const made = await visitor.watchConnections()
  const longest = await visitor.watchStandstill(...names)
  return async () => ({ words: await words(), connections: await made(), standstill: await longest() })
}

test('a room is on two guarded servers, and the leader is killed: neither those on the same server nor those on the other one notice', async () => {
  const tokenSecret = 'a secret that signs tokens'
  await using north = await startJanus({ tokenSecret })
  await using south = await startJanus({ tokenSecret })
  const controllers = await ControllersSite.start({
    nodes: [{ ...north.asNode('north'), max_users: 1 }, south.asNode('south')],
  })
  const first = await controllers.leader()
  const site = RoomSite.at(first.headless)
  try {
    const room = await site.room({ topic: 'Town hall' })
    const join = async (user_id: string, user_name: string): Promise<Visitor> =>
      await site.join(await site.link(room, { user_id, user_name }))
    const ann = await join('ann', 'Ann')
    const users = async () => (await site.controller.rpc('rooms.get', { room_id: room })).users.length
    await expect.poll(users).toBe(1)
    const [bob, cy] = [await join('bob', 'Bob'), await join('cy', 'Cy')]
    const all = async (): Promise<void> => {
      await Promise.all([
        ann.sees('Bob'),
        ann.sees('Cy'),
        bob.sees('Ann'),
        bob.sees('Cy'),
        cy.sees('Ann'),
        cy.sees('Bob'),
      ])
    }
    await all()
    const relays = async (): Promise<string[]> =>
      ((await site.controller.rpc('relays.list', {}))[0]?.relays ?? [])
        .map(({ stream_id, from, to }) => `${stream_id} ${from} ${to}`)
        .sort()
    const handedOn = ['ann north south', 'bob south north', 'cy south north']
    expect(await relays()).toEqual(handedOn)

    const looks = [await lookedAt(ann, 'Bob', 'Cy'), await lookedAt(bob, 'Ann', 'Cy'), await lookedAt(cy, 'Ann', 'Bob')]
    for (const visitor of [ann, bob, cy]) await visitor.button('Chat').click()
    await controllers.kill(first)
    await ann.says('Still there?')
    await Promise.all([bob.reads('Still there?'), cy.reads('Still there?')])
    await all()
    const seen = await Promise.all(looks.map((look) => look()))
    const standstill = Math.max(...seen.map((each) => each.standstill))
    console.info(`on two servers pictures stood still for ${standstill} ms at most`)
    expect(standstill).toBeLessThan(unnoticedMs)
    expect(seen).toEqual(seen.map((each) => ({ ...each, words: [], connections: 0 })))

    // The next leader knows what is handed on, and why: it ends with who watches it.
    site.controller = (await controllers.leader(first)).headless
    expect(await relays()).toEqual(handedOn)
    await ann.button('Leave').click()
    await bob.tile('Ann').waitFor({ state: 'detached' })
    // What it found counts as watched for half a minute.
    await expect.poll(relays, { timeout: 60_000 }).toEqual([])
    await Promise.all([bob.sees('Cy'), cy.sees('Bob')])
    expect([...ann.problems, ...bob.problems, ...cy.problems]).toEqual([])
  } finally {
    await site[Symbol.asyncDispose]()
    await controllers.remove()
  }
}, 180_000)

test('the leader freezes: people go on seeing each other and the small picture of a camera, and read nothing of it', async () => {
  await using janus = await startJanus()
  const controllers = await ControllersSite.start({ nodes: [janus.asNode()] })
  const first = await controllers.leader()
  const site = RoomSite.at(first.headless)
  try {
    const room = await site.room({ topic: 'Yard' })
    await site.camera(room, 'cam', 'Yard')
    const join = async (user_id: string, user_name: string): Promise<Visitor> =>
      await site.join(await site.link(room, { user_id, user_name }))
    const [ann, bo] = [await join('ann', 'Ann'), await join('bo', 'Bo')]
    await Promise.all([ann.sees('Bo'), bo.sees('Ann'), ann.sees('Yard'), bo.sees('Yard')])
    const looks = [await lookedAt(ann, 'Bo', 'Yard'), await lookedAt(bo, 'Ann', 'Yard')]
    for (const visitor of [ann, bo]) await visitor.button('Chat').click()
    controllers.freeze(first, true)
    const began = performance.now()
    // Their pages find out by the silence of the one that is frozen; what was said to it is lost.
    for (let line = 1; (await bo.page.getByRole('log').getByText(/^Line/).count()) === 0; line++) {
      await ann.says(`Line ${line}`)
      await ann.sees('Bo', 10)
    }
    const took = performance.now() - began
    await Promise.all([ann.sees('Bo'), bo.sees('Ann'), ann.sees('Yard'), bo.sees('Yard')])
    controllers.freeze(first, false)
    await Promise.all([ann.sees('Bo', 30), bo.sees('Ann', 30), ann.sees('Yard', 30), bo.sees('Yard', 30)])
    const seen = await Promise.all(looks.map((look) => look()))
    const standstill = Math.max(...seen.map((each) => each.standstill))
    console.info(
      `what people say is told again ${Math.round(took)} ms after the leader froze; pictures stood still for ${standstill} ms at most`,
    )
    expect(standstill).toBeLessThan(unnoticedMs)
    expect(seen).toEqual(seen.map((each) => ({ ...each, words: [], connections: 0 })))
    await expect.poll(() => janus.participants(room)).toEqual(['ann', 'bo', 'cam'])
  } finally {
    await site[Symbol.asyncDispose]()
    await controllers.remove()
  }
}, 180_000)

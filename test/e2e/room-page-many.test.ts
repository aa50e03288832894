import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SignalClient } from '../support/media/signal-client.ts'
import { silence, WhipPeer } from '../support/media/whip-peer.ts'
import { RoomSite, type Visitor } from '../support/sites/room-site.ts'
import { step } from '../support/step.ts'

/** More users than a page shows: the operator limits it to three tiles. */
describe('a room with more users than tiles', () => {
  const count = 7
  let site: RoomSite
  let room: string
  let visitor: Visitor
  const people: SignalClient[] = []
  const peers: WhipPeer[] = []
  /** Heights of streams that the page reported, the latest last. */
  const told: Map<string, number>[] = []
  beforeAll(async () => {
    site = await RoomSite.start()
    await site.controller.rpc('settings.set', { media: { most_tiles: 3 } })
    room = await site.room({ topic: 'Weekly round' })
    const { node } = site.controller.ready
    for (let i = 0; i < count; i++) {
      const link = await site.link(room, { user_id: `p${i}`, user_name: `Person ${i}` })
      const signal = await SignalClient.join(node, room, { token: new URL(link).hash.replace('#token=', '') })
      signal.send({ type: 'state', audio: true, video: false })
      people.push(signal)
      peers.push(await WhipPeer.open(`${node}/whip/${room}`, signal.joined.session, { pictures: 5 }))
    }
    visitor = await site.open(await site.link(room, { user_id: 'me', user_name: 'Me' }), { equipment: 'none' })
    visitor.page.on('websocket', (socket) =>
      socket.on('framesent', ({ payload }) => {
        const message = JSON.parse(String(payload)) as {
          type: string
          streams: { stream_id: string; height: number }[]
        }
        if (message.type !== 'shown') return
        told.push(new Map(message.streams.map(({ stream_id, height }) => [stream_id, height])))
      }),
    )
    await visitor.enter()
  })
  afterAll(async () => {
    await Promise.all(peers.map(async (peer) => await peer.close()))
    for (const client of people) client.drop()
    await site[Symbol.asyncDispose]()
  })

  const tiles = async (): Promise<string> =>
    String(
      await visitor.page.evaluate(
        '[...document.querySelectorAll("[data-tile]")].map((tile) => tile.dataset.tile).join(" ")',
      ),
    )
  /** Lists the displayed streams of the latest report. */
  const shown = (): string[] => [...(told.at(-1) ?? [])].flatMap(([id, height]) => (height > 0 ? [id] : []))

  /** Talks with pauses during an action. */
  async function whileTalking(peer: WhipPeer | undefined, run: () => Promise<void>): Promise<void> {
    if (peer === undefined) throw new Error('nobody is there')
    let turn = 0
    const timer = setInterval(() => {
      turn += 1
      peer.level = turn % 4 === 0 ? 80 : 25
    }, 100)
    await run()
    clearInterval(timer)
    peer.level = silence
  }

  // One story: the tiles depend on who spoke before.
  test('the first users have a tile, speakers replace silent ones, and a pinned user stays', async () => {
    await step(
      'the first users have a tile, including oneself; the others are counted and listed, and their pictures are not requested',
      firstUsers,
    )
    await step('a user who speaks replaces a silent one and is marked; the others keep their places', speakers)
    await step('a pinned user stays in view while others speak; the list marks the speakers', pinnedUser)
  })

  async function firstUsers(): Promise<void> {
    await expect.poll(tiles).toBe('p0 p1 me')
    await visitor.page.getByRole('button', { name: '5 more' }).waitFor()
    await expect.poll(() => told.at(-1)?.size).toBe(count)
    await expect.poll(shown).toEqual(['p0', 'p1'])
  }

  async function speakers(): Promise<void> {
    await whileTalking(peers[5], async () => {
      await expect.poll(tiles).toBe('p0 p5 me')
      await visitor.tile('Person 5').getByText('speaking').waitFor()
      await expect.poll(shown).toEqual(['p0', 'p5'])
    })
    await visitor.tile('Person 5').getByText('speaking').waitFor({ state: 'detached' })
    await whileTalking(peers[3], async () => {
      await expect.poll(tiles).toBe('p3 p5 me')
    })
  }

  async function pinnedUser(): Promise<void> {
    await visitor.page.getByRole('button', { name: '5 more' }).click()
    const list = visitor.page.getByRole('region', { name: /^People/ })
    await list.getByRole('button', { name: 'Keep in view: Person 1' }).click()
    await expect.poll(tiles).toBe('p3 p1 me')
    await whileTalking(peers[6], async () => {
      await list.getByRole('listitem').filter({ hasText: 'Person 6' }).getByText('speaking').waitFor()
      await expect.poll(tiles).toBe('p6 p1 me')
    })
    expect(await visitor.accessibilityProblems()).toEqual([])
    expect(visitor.problems).toEqual([])
  }
})

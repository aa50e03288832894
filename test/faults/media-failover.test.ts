import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { startEncodedCamera } from '../support/camera/encoded-camera.ts'
import { RoomSite, type Visitor } from '../support/sites/room-site.ts'
import { ApiClient } from '../support/api-client.ts'
import { ControllersSite, credential, type SiteController } from '../support/sites/controllers-site.ts'
import { handOver } from '../support/controllers/hand-over.ts'
import { SignalClient } from '../support/media/signal-client.ts'

/** Maximum standstill of pictures of users and of the camera, in milliseconds. */
const backMs = 5_000

/** Rooms with their media on the machine of the leader, and three controllers. */
describe('users in a meeting on the embedded node when the leader is lost', () => {
  let controllers: ControllersSite
  let site: RoomSite
  let room: string
  let link: string
  let ann: Visitor
  let bo: Visitor
  beforeAll(async () => {
    controllers = await ControllersSite.start({ nodes: [{ name: 'here', kind: 'embedded' }] })
    site = RoomSite.at((await controllers.leader()).headless)
    room = await site.room({ topic: 'Night shift' })
    link = await site.link(room)
    await site.camera(room, 'yard', 'Yard', startEncodedCamera)
    await othersAreKnown()
    ann = await site.join(await site.link(room, { user_id: 'ann', user_name: 'Ann' }))
    bo = await site.join(await site.link(room, { user_id: 'bo', user_name: 'Bo' }))
    await seeEachOther()
  })
  afterEach(() => {
    expect([...ann.problems, ...bo.problems]).toEqual([])
  })
  afterAll(async () => {
    await site[Symbol.asyncDispose]()
    await controllers.remove()
  })

  const seeEachOther = async (): Promise<void> => {
    await Promise.all([ann.sees('Bo'), bo.sees('Ann'), ann.sees('Yard'), bo.sees('Yard')])
  }
  /** Waits until pages know the other two nodes. */
  async function othersAreKnown(): Promise<void> {
    const others = controllers.controllers.flatMap(({ headless }) =>
      headless === site.controller ? [] : [headless.ready.node],
    )
    const known = async (): Promise<readonly string[]> => {
      const token = new URL(link).hash.replace('#token=', '')
      const probe = await SignalClient.join(site.controller.ready.node, room, { token, user_name: 'Probe' })
      probe.send({ type: 'leave' })
      await probe.closed
      return probe.joined.other_nodes
    }
    await vi.waitFor(async () => expect(await known()).toEqual(expect.arrayContaining(others)), {
      timeout: 10_000,
      interval: 100,
    })
  }
  /** Loses the leader and waits until all see each other through the next one. @returns the maximum standstill of a picture, in milliseconds */
  async function areBack(before: SiteController, lose: () => Promise<unknown>): Promise<number> {
    const watched = await Promise.all([ann.watchStandstill('Bo', 'Yard'), bo.watchStandstill('Ann', 'Yard')])
    await lose()
    const leader = await controllers.leader(before)
    const isBack = ({ page }: Visitor) => page.getByText('You are connected again').first().waitFor()
    await Promise.all([isBack(ann), isBack(bo)])
    await seeEachOther()
    const took = Math.max(...(await Promise.all(watched.map((longest) => longest()))))
    site.controller = leader.headless
    const ids = async () =>
      (await site.controller.rpc('rooms.get', { room_id: room })).users.map(({ user_id }) => user_id).sort()
    await expect.poll(ids).toEqual(['ann', 'bo', 'yard'])
    for (const controller of controllers.controllers) {
      const { headless } = controller
      if (controller === before || headless.child.signalCode !== null) continue
      const api = new ApiClient(headless.ready, credential)
      await api.authenticate()
      const mcu = await api.get('/sdk/get_mcu', { room_id: room })
      expect(mcu).toMatchObject({ ret: 0, addr: new URL(leader.headless.ready.node).host })
    }
    return took
  }

  test('are moved at a handover', async () => {
    const before = await controllers.leader()
    const [next] = controllers.controllers.filter((controller) => controller !== before)
    if (next === undefined) throw new Error('there is no other controller')
    const took = await areBack(before, () => handOver(controllers, before, next))
    console.info(`during a hand-over pictures stood still for ${took} ms at most`)
    expect(took).toBeLessThan(backMs)
    await othersAreKnown()
  }, 120_000)

  test('are moved when it freezes: its media process ends, and when it resumes nobody is disconnected', async () => {
    const before = await controllers.leader()
    const took = await areBack(before, async () => controllers.freeze(before, true))
    console.info(`when the leader froze pictures stood still for ${took} ms at most`)
    expect(took).toBeLessThan(backMs)
    const program = async () =>
      await fetch(`${before.headless.ready.node}/room/`, { signal: AbortSignal.timeout(1_000) }).then(
        ({ status }) => status,
        () => 'gone',
      )
    expect(await program()).toBe('gone')
    controllers.freeze(before, false)
    // It is a replica, and forwards requests.
    await expect.poll(program, { timeout: 15_000 }).toBe(200)
    await Promise.all([ann.sees('Bo', 20), bo.sees('Ann', 20), ann.sees('Yard', 20)])
    await othersAreKnown()
  }, 120_000)

  test('are back within 5 s when it is killed; earlier links work, and so does every address of the site', async () => {
    const before = await controllers.leader()
    const took = await areBack(before, () => controllers.kill(before))
    console.info(`when the leader was killed pictures stood still for ${took} ms at most`)
    expect(took).toBeLessThan(backMs)
    const left = controllers.controllers.filter((controller) => controller !== before)
    for (const { name, headless } of left) {
      const { pathname, hash } = new URL(link)
      const cy = await site.join(`${headless.ready.media}${pathname}${new URL(link).search}${hash}`, {
        name: `Cy ${name}`,
      })
      await Promise.all([cy.sees('Ann'), cy.sees('Yard'), ann.sees(`Cy ${name}`)])
      // Opens the link again, like a user who comes later.
      await cy.page.goto('about:blank')
      await cy.page.goto(`${headless.ready.node}/room/?roomId=${room}${hash}`)
      await cy.enter(`Cy ${name}`)
      await cy.sees('Ann')
      await cy.close()
    }
  }, 120_000)

  test('are back after the next leader is lost, too: the last controller serves them', async () => {
    const before = await controllers.leader()
    await othersAreKnown().catch(() => {})
    const took = await areBack(before, () => controllers.kill(before))
    console.info(`when the second leader was killed pictures stood still for ${took} ms at most`)
    expect(took).toBeLessThan(backMs)
  }, 120_000)
})

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RoomSite, Visitor } from '../support/sites/room-site.ts'

/** Counts in each page of a browser how often microphone and camera were opened since it was loaded. */
const counting = `globalThis.opened = []
const devices = navigator.mediaDevices
const open = devices?.getUserMedia.bind(devices)
if (open) devices.getUserMedia = (wanted) => {
  globalThis.opened.push(...Object.keys(wanted).filter((kind) => wanted[kind]))
  return open(wanted)
}`

/** The only microphone of a computer, which is pulled out and plugged in again. */
const headset = `(() => {
  const devices = navigator.mediaDevices
  const open = devices.getUserMedia.bind(devices)
  const state = (globalThis.headset = { in: true, tracks: [] })
  devices.enumerateDevices = async () => (state.in ? [{ kind: 'audioinput', deviceId: 'usb', groupId: 'a', label: 'USB headset' }] : [])
  devices.getUserMedia = async (wanted) => {
    if (wanted.audio && !state.in) throw new DOMException('', 'NotFoundError')
    const stream = await open(wanted.audio ? { audio: true } : { video: true })
    if (wanted.audio) state.tracks.push(...stream.getTracks())
    return stream
  }
  state.pull = () => {
    state.in = false
    for (const track of state.tracks) {
      track.stop()
      track.dispatchEvent(new Event('ended'))
    }
    devices.dispatchEvent(new Event('devicechange'))
  }
  state.plug = () => {
    state.in = true
    devices.dispatchEvent(new Event('devicechange'))
  }
})()`

/** Every way back into a room: microphone and camera are as their person left them, and are not opened meanwhile. */
describe('a guest who turned microphone and camera off', () => {
  let site: RoomSite
  let room: string
  const visitors: Visitor[] = []
  beforeAll(async () => {
    site = await RoomSite.start()
    room = await site.room({ topic: 'Quiet corner' })
  })
  afterAll(async () => {
    for (const visitor of visitors) await visitor.close()
    await site[Symbol.asyncDispose]()
  })

  async function opens(link: string, permissions = ['camera', 'microphone']): Promise<Visitor> {
    const page = await site.window('fake', { permissions })
    await page.context().addInitScript(counting)
    const visitor = new Visitor(page)
    visitors.push(visitor)
    await page.goto(link)
    return visitor
  }
  const toggle = (visitor: Visitor, name: string): Promise<void> =>
    visitor.page.getByRole('button', { name, exact: true }).click()
  /** Opens a link, turns both off in the lobby and joins. */
  async function joinsSilently(link: string): Promise<Visitor> {
    const visitor = await opens(link)
    await toggle(visitor, 'Mute')
    await toggle(visitor, 'Turn the camera off')
    await visitor.enter()
    return visitor
  }
  const link = (id: string): Promise<string> => site.link(room, { user_id: id, user_name: id })
  /** Kinds of devices that a page has opened since it was loaded. */
  const opened = (page: Page): Promise<unknown> => page.evaluate('globalThis.opened')
  const inRoom = (visitor: Visitor): Promise<void> => visitor.button('Unmute').waitFor()

  test('reloads the page, joins again, opens it twice and goes back', async () => {
    const ann = await joinsSilently(await link('ann'))
    await ann.page.reload()
    await ann.page.getByRole('button', { name: 'Join to watch and listen' }).waitFor()
    await ann.enter()
    await inRoom(ann)
    expect(await opened(ann.page)).toEqual([])
    const second = new Visitor(await ann.page.context().newPage())
    await second.page.goto(ann.page.url())
    await second.page.getByRole('button', { name: 'Join to watch and listen' }).click()
    await inRoom(second)
    await ann.page.getByRole('button', { name: 'Join here' }).click()
    await ann.page.getByRole('button', { name: 'Join to watch and listen' }).click()
    await inRoom(ann)
    expect([await opened(ann.page), await opened(second.page)]).toEqual([[], []])
  })

  test('returns after a lost network and a restart of the controller', async () => {
    const bo = await joinsSilently(await link('bo'))
    await bo.page.evaluate('globalThis.opened.length = 0')
    await bo.page.context().setOffline(true)
    await bo.page.getByText('Connection lost. Reconnecting').waitFor()
    await bo.page.context().setOffline(false)
    await bo.page.getByText('You are connected again').waitFor()
    await site.stop()
    await bo.page.getByText('Restarting. You will be reconnected').waitFor()
    await site.startAgain()
    await bo.page.getByText('Restarting').waitFor({ state: 'detached' })
    await inRoom(bo)
    expect(await opened(bo.page)).toEqual([])
  })

  test('is admitted by the host, whose muting survives a reload', async () => {
    const guarded = await site.room({ topic: 'Guarded', waiting_room: true })
    const host = await site.join(await site.link(guarded, { user_id: 'host', user_name: 'Host', role: 'host' }))
    visitors.push(host)
    const cy = await opens(await site.link(guarded, { user_id: 'cy', user_name: 'Cy' }))
    await toggle(cy, 'Turn the camera off')
    await cy.page.getByRole('button', { name: /^Join/ }).click()
    // Nobody reads meanwhile that nothing needs attention.
    const attention = async () => (await site.controller.rpc('overview.get', {})).attention
    await expect.poll(attention).toContainEqual(expect.objectContaining({ code: 'guestsWaiting', count: 1 }))
    await host.page.getByRole('button', { name: 'Let in' }).click()
    await cy.button('Mute').waitFor()
    await cy.button('Turn the camera on').waitFor()
    await host.button('More').click()
    await host.page.getByRole('menuitem', { name: 'Mute everybody' }).click()
    await inRoom(cy)
    await cy.page.reload()
    await cy.page.getByRole('button', { name: 'Join to watch and listen' }).waitFor()
    expect(await opened(cy.page)).toEqual([])
  })
})

test('the only microphone is unplugged and plugged in: its user reads so, and is heard again, unless a host muted them', async () => {
  await using site = await RoomSite.start()
  const room = await site.room()
  const page = await site.window('fake', { permissions: ['camera', 'microphone'] })
  await page.context().addInitScript(headset)
  const ann = new Visitor(page)
  await page.goto(await site.link(room, { user_id: 'ann', user_name: 'Ann' }))
  await ann.enter()
  const banner = page.getByRole('alert').filter({ hasText: 'The microphone was unplugged: nobody hears you' })
  await ann.button('Mute').waitFor()
  await page.evaluate('headset.pull()')
  await banner.waitFor()
  await ann.button('Unmute').waitFor()
  await page.evaluate('headset.plug()')
  await page.getByText('others hear you again').waitFor()
  await ann.button('Mute').waitFor()
  await banner.waitFor({ state: 'detached' })
  await ann.close()
})

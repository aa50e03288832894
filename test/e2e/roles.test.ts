import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '../../shared/console/role-names.ts'
import { openWindows, type Windows } from '../support/chromium.ts'
import { type Headless, startHeadless } from '../support/headless.ts'
import { ControlWalk } from './roles/control-walk.ts'

const password = 'correct horse battery'
/** Every dialog to its end; else pages, panels, menus and the first step of each dialog. */
const isWhole = process.env.ROOMDESK_WALK === 'whole'
/** An operator may do more, which takes a minute: with the faults. */
const walkers: readonly Role[] = isWhole || process.env.ROOMDESK_FAULTS === 'all' ? ['viewer', 'operator'] : ['viewer']
const site = {
  credentials: [{ label: 'Kiosk', access_key: 'kiosk', secret_key: 'the secret of the kiosk' }],
  nodes: [
    { name: 'Hall', kind: 'simulated' },
    { name: 'Annex', kind: 'embedded', addresses: [{ tag: 'local', addr: '127.0.0.1:9' }], enabled: false },
    { name: 'Tower', kind: 'janus', ws_url: 'ws://127.0.0.1:9' },
  ],
}

/** Nothing that a role may not do is offered to it: everything that can be clicked is clicked, as a viewer and as an operator. */
describe('a viewer and an operator of the console', () => {
  let controller: Headless
  let browser: Windows
  let routes: string[]
  beforeAll(async () => {
    controller = await startHeadless({ site })
    browser = await openWindows()
    routes = await fill(controller)
  })
  afterAll(async () => {
    await browser.close()
    await controller.remove()
  })

  test.concurrent.each(walkers)(
    'A %s is offered only what this role may do',
    async (role) => {
      const walk = await signIn(controller, browser, role)
      for (const route of routes) await walk.walk(route)
      // Fewer were no walk: a page did not open.
      expect(walk.clicks).toBeGreaterThan(40)
      expect(walk.found).toEqual([])
    },
    600_000,
  )
})

/** Fills the site with something of each kind, in each state. Returns the routes of all pages and panels. */
async function fill(controller: Headless): Promise<string[]> {
  const call = controller.rpc.bind(controller)
  await call('overview.dismiss_welcome', {})
  for (const role of ['viewer', 'operator', 'admin'] as const)
    await call('accounts.create', { name: `The ${role}`, role, password })
  const room = async (topic: string): Promise<string> =>
    (await call('rooms.create', { topic, host_password: 'of the host' })).room_id
  const [open, closed, locked, deleted] = [
    await room('Open'),
    await room('Closed'),
    await room('Locked'),
    await room('Deleted'),
  ]
  const camera = (roomId: string, userId: string) => ({
    roomId,
    userId,
    userName: userId,
    userAddress: `rtsp://${userId}.example/1`,
  })
  await call('lab.device_trouble', { name: 'Hall', rules: [{ match: 'refused', kind: 'auth' }] })
  for (const userId of ['joined', 'refused', 'paused', 'removed']) await call('devices.create', camera(open, userId))
  await call('lab.join', { room_id: open, user_id: 'ann', user_name: 'Ann' })
  await call('devices.pause', { userIds: ['paused'] })
  await call('devices.remove', { userIds: ['removed'] })
  await call('rooms.close', { room_ids: [closed] })
  await call('rooms.lock', { room_ids: [locked] })
  await call('rooms.delete', { room_ids: [deleted] })
  const items = [
    { kind: 'camera' as const, id: 'joined' },
    { kind: 'room' as const, id: open },
  ]
  const { id: view } = await call('wall.save', { name: 'Door', items })
  await call('wall.remove', { id: (await call('wall.save', { name: 'Old view', items })).id })
  await call('lab.set_faults', { rules: [{ operation: 'get_mcu', delay_ms: 1 }] })
  await call('backups.make', {})
  // A request in the journal, and an older client that is refused.
  await fetch(`${controller.ready.media}/rtc/room/get?room_id=1`)
  await fetch(`${controller.ready.media}/get_access_token?access_key=kiosk`)
  return [
    '/overview',
    ...['/rooms', ...[open, closed, locked].map((id) => `/rooms/${id}`)],
    ...['/devices', '/devices/joined', '/devices/refused', '/devices/paused'],
    ...['/nodes', '/nodes/Hall', '/nodes/Annex', '/nodes/Tower'],
    ...['/controllers', `/wall/${view}`, '/events', '/activity', '/account', '/trash', '/lab'],
    ...['/welcome', '/credentials', '/tester', '/settings', '/certificate'],
  ]
}

async function signIn(controller: Headless, browser: Windows, role: Role): Promise<ControlWalk> {
  const page = await browser.newPage({
    viewport: { width: 1360, height: 860 },
    locale: 'en-US',
    reducedMotion: 'reduce',
  })
  const walk = new ControlWalk(page, role, isWhole ? 5 : 1)
  await walk.watch()
  const answer = await page.request.post(`${controller.ready.console}/session`, {
    data: { name: `The ${role}`, password },
    headers: { origin: controller.ready.console },
  })
  expect(answer.ok()).toBe(true)
  await page.goto(`${controller.ready.console}/#/account`)
  await page.getByRole('navigation').first().waitFor()
  return walk
}

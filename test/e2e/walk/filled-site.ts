import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Role } from '../../../shared/domain/roles.ts'
import { navigationPages } from '../../../renderer/console/pages.ts'
import type { Headless } from '../../support/headless.ts'
import { pageHalfHeader } from '../../../shared/console/session-halves.ts'
import { keepHalf } from '../keep-half.ts'

/** Password of the accounts: `The viewer`, `The operator`, `The admin`. */
const password = 'correct horse battery'

/** Site file: a credential, a node of each kind, and a test camera. */
export const site = {
  credentials: [{ label: 'Kiosk', access_key: 'kiosk', secret_key: 'the secret of the kiosk' }],
  nodes: [
    { name: 'Hall', kind: 'simulated' },
    { name: 'Annex', kind: 'embedded', addresses: [{ tag: 'local', addr: '127.0.0.1:9' }], enabled: false },
    { name: 'Tower', kind: 'janus', ws_url: 'ws://127.0.0.1:9' },
  ],
  lab: { cameras: [{ name: 'door', behaviours: ['stall=10'] }] },
}

/** Records that were made. */
export interface FilledSite {
  /** Number of the open room, in which are Ann and the device `joined`. */
  room: string
  /** Routes of all pages and panels. */
  routes: string[]
}

/** Fills the site with something of each kind, in each state. */
export async function fillSite(controller: Headless): Promise<FilledSite> {
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
  const routes = [
    ...navigationPages.map(({ address }) => address),
    ...[open, closed, locked].map((id) => `/rooms/${id}`),
    ...['/devices/joined', '/devices/refused', '/devices/paused'],
    ...['/nodes/Hall', '/nodes/Annex', '/nodes/Tower'],
    ...[`/wall/${view}`, '/account', '/welcome', '/certificate'],
  ]
  return { room: open, routes }
}

/** Opens the console with the account of a role. */
export async function signInAs(role: Role, page: Page, { ready }: Headless): Promise<void> {
  const answer = await page.request.post(`${ready.console}/session`, {
    data: { name: `The ${role}`, password },
    headers: { origin: ready.console },
  })
  expect(answer.ok()).toBe(true)
  await keepHalf(page, answer.headers()[pageHalfHeader] ?? '')
  await page.goto(`${ready.console}/#/account`)
  await page.getByRole('navigation').first().waitFor()
}

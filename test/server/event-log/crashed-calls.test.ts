import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { EventEntry } from '../../../shared/domain/events.ts'
import { ControllerSite, controllerSite, openController, password } from '../../support/sites/controller-site.ts'
import { crashCopy } from '../../support/sites/store-site.ts'

const credential = { label: 'Lobby', access_key: 'lobby', secret_key: 'Secret-of-the-lobby-1', p2p: true }
const site = { credentials: [credential], nodes: [{ name: 'lab', kind: 'simulated' }] }
const consolePage = join(import.meta.dirname, '../../support/media/page')

/** Starts the site again as a crash at this moment leaves it. */
async function afterCrash(crashed: ControllerSite): Promise<ControllerSite> {
  const dataFolder = await crashCopy(crashed.folder)
  const again = new ControllerSite(await openController({ dataFolder, consolePage }))
  onTestFinished(() => again.remove())
  return again
}

/** What somebody did to what, the oldest first. */
async function recorded(of: ControllerSite): Promise<string[]> {
  const { items } = await of.call(await of.key(), 'events.list', { limit: 500 })
  const shown = ({ kind, params, subject }: EventEntry): string =>
    `${kind === 'site.changed' ? String(params.procedure) : kind} ${subject.type} ${subject.name}`.trimEnd()
  return items
    .filter(({ actor }) => actor.type !== 'system')
    .map(shown)
    .reverse()
}

test('A crash right after changes of the site file, of the console and of clients neither loses nor repeats an event', async () => {
  const running = await controllerSite(site)
  const key = await running.key()
  const client = await running.client(credential)
  const morning = await client.createRoom({ topic: 'Morning' })
  await client.get('/rtc/room/del', { room_id: morning })
  const { room_id } = await running.call(key, 'rooms.create', { topic: 'Board' })
  await running.call(key, 'rooms.set_tags', { room_id, tags: ['floor 2'] })
  await running.call(key, 'rooms.delete', { room_ids: [room_id] })
  await running.call(key, 'trash.empty', {})
  await running.call(key, 'settings.set', { room_defaults: { max_video: 4 } })
  await running.call(key, 'nodes.disable', { name: 'lab' })
  const { id } = await running.call(key, 'accounts.create', { name: 'ann', role: 'operator', password })
  await running.call(key, 'accounts.create_token', { id, label: 'script', days: 1 })
  await running.call(key, 'credentials.end_sessions', { access_key: 'lobby' })
  const again = await afterCrash(running)
  expect(await recorded(again)).toEqual([
    'siteFile credential Lobby',
    'siteFile node lab',
    'room.created room Morning',
    'room.deleted room Morning',
    'rooms.create room Board',
    'rooms.set_tags room Board',
    'rooms.delete room Board',
    'trash.empty site',
    'settings.set settings',
    'nodes.disable node lab',
    'accounts.create account ann',
    'accounts.create_token account ann',
    'credentials.end_sessions credential Lobby',
  ])
  expect(await recorded(again)).toEqual(await recorded(running))
})

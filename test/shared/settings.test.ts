import { expect, test } from 'vitest'
import type { TlsMaterial } from '../../server/edge/tls.ts'
import { listenerNames, Listeners, type Port } from '../../server/http/listeners.ts'
import { mediaConfiguration } from '../../server/nodes/embedded/media-configuration.ts'
import { servesConsole } from '../../server/controller/options.ts'
import { settingCards } from '../../shared/settings/setting.ts'
import { allSettings, defaultSettings, mergeSettings, type Settings, settingsOfCard } from '../../shared/settings.ts'
import { changedSetting } from '../support/changed-setting.ts'
import { storedNode } from '../support/stored-records.ts'

test('The default of every setting is valid', () => {
  const wrong = allSettings.filter((setting) => !setting.schema.safeParse(setting.default).success)
  expect(wrong.map(({ path }) => path)).toEqual([])
})

test.each(Object.keys(settingCards) as (keyof typeof settingCards)[])(
  'The settings of the card %s have one order',
  (card) => {
    const orders = settingsOfCard(card).map(({ order }) => order)
    expect(orders).toEqual(orders.map((_, index) => index + 1))
    expect(orders).not.toEqual([])
  },
)

test('A change restarts the listeners, or the embedded node, as its declaration says', async () => {
  const silent: Port = {
    start: async () => undefined,
    stop: async () => undefined,
    secure: async () => undefined,
    url: '',
    connections: () => 0,
  }
  const certificate = { cert: 'cert', key: 'key' } as TlsMaterial
  const materialOf = ({ tls }: Settings): TlsMaterial | undefined => (tls.mode === 'off' ? undefined : certificate)
  const isWanted = (name: string, settings: Settings): boolean =>
    name !== 'console' || servesConsole({ consolePage: '/console', consoleIsChosen: true }, settings)
  const udpPortOf = (settings: Settings): number =>
    mediaConfiguration(
      storedNode('local'),
      settings,
      { unseal: () => JSON.stringify({ token_key: 'a'.repeat(44) }), all: () => new Map() },
      places,
    ).udpPort
  const places = { sitePorts: [], otherNodes: [], pageOrigins: [], leaseMs: 0, restartsAt: 0 }

  const ports = Object.fromEntries(listenerNames.map((name) => [name, silent]))
  const before = mergeSettings(undefined, { listeners: { serve_console: true } })
  const listeners = new Listeners(ports, {}, () => undefined, {}, isWanted)
  await listeners.start(before, undefined)
  for (const { path, restarts } of allSettings) {
    const change = path === 'listeners.serve_console' ? defaultSettings() : changedSetting(path)
    const after = mergeSettings(before, change)
    const moved = listeners.moved(after, materialOf(after)).length > 0
    expect([path, moved ? 'listeners' : udpPortOf(after) !== udpPortOf(before) ? 'node' : 'nothing']).toEqual([
      path,
      restarts,
    ])
  }
})

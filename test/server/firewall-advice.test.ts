import { expect, onTestFinished, test } from 'vitest'
import { firewallAdvice } from '../../server/controller/open-site.ts'
import { defaultSettings } from '../../shared/settings.ts'
import { removeFolder, siteWithoutMedia, startHeadless } from '../support/headless.ts'

const credential = { label: 'Lab', access_key: 'lab', secret_key: 'lab-secret' }
const advice = 'Other machines may connect'

test.each([
  ['a flag', ['--host', '0.0.0.0'], siteWithoutMedia, {}],
  ['the environment', [], siteWithoutMedia, { ROOMDESK_HOST: '0.0.0.0' }],
  ['the site file', [], { credentials: [credential], settings: { listeners: { host: '0.0.0.0' } } }, {}],
])('a new site opened to other machines by %s logs once what a firewall has to admit', async (_, flags, site, env) => {
  const first = await startHeadless({ flags, site, env })
  onTestFinished(() => removeFolder(first.folder))
  const said = first.log.filter((line) => line.includes(advice))
  expect(said).toHaveLength(1)
  expect(said[0]).toMatch(/"level":"warn"/)
  await first.stop()
  const again = await startHeadless({ folder: first.folder, flags, env })
  expect(again.log.filter((line) => line.includes(advice))).toEqual([])
  await again.stop()
})

test('a site for this machine only logs nothing about firewalls', async () => {
  const alone = await startHeadless({ site: siteWithoutMedia })
  onTestFinished(() => removeFolder(alone.folder))
  expect(alone.log.filter((line) => line.includes(advice))).toEqual([])
  await alone.stop()
})

test('known ports are named, and the prompts of Windows and macOS', () => {
  const settings = defaultSettings()
  const said = (platform: NodeJS.Platform, ports = {}): string =>
    firewallAdvice(settings, { host: '10.0.0.5', ...ports }, { hasConsole: true, platform }) ?? ''
  expect(said('linux')).toContain(
    'TCP 7080 (media API), TCP 7081 (device API), TCP 7083 (console), TCP 7082 (media node), UDP 7082 (media), UDP 7182 (media after a change of networks)',
  )
  expect(said('linux', { media_port: 0, node_port: 9000 })).toContain(
    'let in TCP 7081 (device API), TCP 7083 (console), TCP 9000 (media node), UDP 9000 (media), UDP 9100',
  )
  expect(said('win32')).toContain('allow private networks')
  expect(said('darwin')).toContain('allow both')
  expect(firewallAdvice(settings, {}, { hasConsole: true })).toBeUndefined()
})

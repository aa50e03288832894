import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lanAddresses } from '../../server/edge/network-addresses.ts'
import { startCamera, type Camera } from '../support/camera/camera.ts'
import { type OnvifCamera, startOnvifCamera } from '../support/camera/onvif-camera.ts'
import { violations } from '../support/axe.ts'
import { type ConsoleUnderTest, openConsole } from '../support/sites/console-site.ts'

const [lan = ''] = lanAddresses()
/** Another address of this machine, as of another camera. */
const second = '127.0.0.9'
const login = { name: 'admin', password: 'right' }

describe.skipIf(lan === '')('cameras of the network in the dialog that adds devices', () => {
  let site: ConsoleUnderTest
  let page: Page
  let media: Camera
  const cameras: OnvifCamera[] = []
  const key = (name: string | RegExp) => page.getByRole('dialog').getByRole('button', { name, exact: true })

  beforeAll(async () => {
    media = await startCamera({ host: '0.0.0.0', auth: 'digest', user: login.name, password: login.password })
    const at = (host: string, path: string) => ({ address: media.url(path).replace(/\/\/[^:/]+/, `//${host}`) })
    const streams = (host: string) => [
      { ...at(host, '/stream2'), width: 160, height: 90 },
      { ...at(host, '/stream1'), width: 640, height: 360 },
    ]
    cameras.push(await startOnvifCamera({ host: lan, name: 'Gate', login, streams: streams(lan) }))
    cameras.push(await startOnvifCamera({ host: second, network: lan, name: 'Yard', login, streams: streams(second) }))
    site = await openConsole('headless')
    page = site.page
    await page.getByText('Welcome to Roomdesk').first().waitFor()
    await site.call('overview.dismiss_welcome')
    await site.call('rooms.create', { topic: 'Entrance' })
    await page.evaluate(`location.hash = '/devices'`)
  }, 120_000)
  afterAll(async () => {
    await site[Symbol.asyncDispose]()
    for (const camera of cameras) await camera[Symbol.asyncDispose]()
    await media[Symbol.asyncDispose]()
  })

  test('are added one after another: the login is requested, a stream chosen, the room kept, and known cameras are marked', async () => {
    await page.getByRole('button', { name: 'Add device' }).first().click()
    await page.getByText('Find on the network').click()
    await key('Use Gate').click()
    await page.getByText('The camera wants a login.').waitFor()
    await page.getByLabel('User name').fill(login.name)
    await page.getByLabel('Password', { exact: true }).fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByText('The camera refuses this login.').waitFor()
    await page.getByLabel('Password', { exact: true }).fill(login.password)
    await page.keyboard.press('Enter')
    // The largest picture is proposed, with the smaller one beside it.
    await expect.poll(() => page.getByRole('radio', { name: /^640 × 360/ }).isChecked()).toBe(true)
    expect(await page.getByLabel('Use its substream, 160 × 90').isChecked()).toBe(true)
    expect(await violations(page)).toEqual([])
    await key('Next').click()
    await page.getByText('Login accepted.').waitFor()
    await key('Next').click()
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Gate')
    await page.getByRole('combobox', { name: 'Choose a room' }).click()
    await page.getByRole('option', { name: /Entrance/ }).click()
    await key('Add device').click()
    await page.getByText('Streaming.').waitFor()

    await key('Add another').click()
    await page.getByRole('dialog').getByRole('listitem').filter({ hasText: 'Gate' }).getByText('Added').waitFor()
    await key('Use Yard').click()
    await key('Use the login of Gate').click()
    await key('Ask for streams').click()
    await page.getByText('160 × 90', { exact: true }).click()
    expect(await page.getByLabel(/^Use its substream/).count()).toBe(0)
    await key('Next').click()
    await page.getByText('Login accepted.').waitFor()
    await key('Next').click()
    await page.getByText('Shown to people in the room').waitFor()
    await key('Add device').click()
    await page.getByText('Streaming.').waitFor()
    await key('Close').first().click()
    expect(
      (await site.call('devices.list', {})).map(({ userName, roomTopic, userAddress, options }) => [
        userName,
        roomTopic,
        userAddress.replace(/:\d+\//, '/'),
        JSON.stringify(options.assist_address ?? '').replace(/:\d+\//, '/'),
        options.login_name,
      ]),
    ).toEqual([
      ['Gate', 'Entrance', `rtsp://${lan}/stream1`, `"rtsp://${lan}/stream2"`, 'admin'],
      ['Yard', 'Entrance', `rtsp://${second}/stream2`, '""', 'admin'],
    ])
  })

  test('that are not found: the search says which networks it covered, and what to do', async () => {
    await site.call('settings.set', { media: { camera_networks: ['10.200.0.0/16'] } })
    await page.getByRole('button', { name: 'Add device' }).first().click()
    await page.getByText('Find on the network').click()
    await page.getByText(`outside of the permitted camera networks: ${second}, ${lan}`).waitFor()
    expect(await page.getByRole('link', { name: 'Permitted camera networks' }).getAttribute('href')).toBe(
      '#/settings/media',
    )
    for (const camera of cameras.splice(0)) await camera[Symbol.asyncDispose]()
    await key(/Search again/).click()
    await page.getByText(`No camera answered in the networks of ${lan}`).waitFor()
    await page.getByText('for a camera in another network or VLAN, enter its address').waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByText('Enter an address').click()
    await page.getByLabel('RTSP address').waitFor()
    expect(site.problems).toEqual([])
  })
})

describe.skipIf(lan === '')('cameras of the network in the first run', () => {
  test('are found; a wrong password is reported, and with the right one its camera is shown', async () => {
    await using camera = await startCamera({
      host: lan,
      auth: 'digest',
      password: 'right',
      width: 640,
      height: 360,
      fps: 8,
      gop: 8,
    })
    await using onvif = await startOnvifCamera({
      host: lan,
      name: 'Gate',
      login: { name: 'admin', password: 'right' },
      streams: [{ address: camera.url('/cam'), width: 640, height: 360 }],
    })
    await using site = await openConsole('headless')
    const { page } = site
    const key = (name: string) => page.getByRole('button', { name, exact: true })
    await page.getByRole('radio', { name: /^Try it out/ }).check()
    await key('Next').click()
    await key('Create room').click()
    await key('Next').click()
    await key('Use Gate').click()
    await page.getByText('The camera wants a login.').waitFor()
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByText('The camera refuses this login.').waitFor()
    expect(await site.call('devices.list', {})).toEqual([])
    await page.getByLabel('Password', { exact: true }).fill('right')
    await page.keyboard.press('Enter')
    await page.getByText('Gate is in the room').waitFor()
    const frames = `document.querySelector('.picture video')?.getVideoPlaybackQuality().totalVideoFrames ?? 0`
    await expect.poll(() => page.evaluate(frames), { timeout: 20_000 }).toBeGreaterThan(5)
    expect(onvif.asked).toContain('GetStreamUri')
    expect(site.problems).toEqual([])
  }, 120_000)
})

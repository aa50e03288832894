import { expect, test } from 'vitest'
import { startTestCamera } from '../../support/camera/test-camera.ts'
import { violations } from '../../support/axe.ts'
import type { ConsoleUnderTest } from '../../support/sites/console-site.ts'
import { ConsolePages } from '../console-pages.ts'
import { newClient } from './clients.ts'

/** A real camera: added with a wrong password, corrected, joined, lost and back. */
export function deviceStories(opened: () => ConsoleUnderTest): void {
  test('a camera with a wrong password is reported; corrected, its substream is found and it joins; when it is lost, it rejoins', async () => {
    const login = { auth: 'digest', user: 'admin', password: 's3cret/pass' } as const
    let camera = await startTestCamera(login)
    const { page } = opened()
    const pages = new ConsolePages(page)
    try {
      // Cameras often name their streams so; the substream is found by it.
      const address = `${camera.url}/main`
      await pages.go('Devices')
      await pages.button('Add device').first().click()
      const form = pages.dialog('Add device')
      await form.getByLabel('RTSP address').fill(address.replace('rtsp://', 'rtsp://admin:wrong@'))
      await form.getByRole('button', { name: 'Next' }).click()
      await expect.poll(() => form.getByLabel('User name').inputValue()).toBe('admin')
      await form.getByRole('button', { name: 'Probe', exact: true }).click()
      await form.getByText('The device refused the login.').first().waitFor()
      // The button that mends it stands out; the hint is true for a refused login.
      await form.getByText('not retried until the login is corrected').waitFor()
      await form.getByRole('button', { name: 'Continue anyway' }).waitFor()
      expect(await form.locator('.app-button.primary').allInnerTexts()).toEqual(['Correct the login'])
      expect(await form.getByRole('list', { name: 'Tracks' }).count()).toBe(0)

      await form.getByRole('button', { name: 'Correct the login' }).click()
      await form.getByLabel('Password').fill(login.password)
      await form.getByRole('button', { name: 'Probe', exact: true }).click()
      await form.getByText('Login accepted.').waitFor()
      await form
        .getByText(/H\.?264/)
        .first()
        .waitFor()
      await form.getByRole('img', { name: 'Picture of the device' }).waitFor()
      await form.getByText('Use its substream, 320 × 180').click()
      await form.getByRole('button', { name: 'Next' }).click()
      // The suggested name is selected: typing replaces it.
      const name = form.getByLabel('Name', { exact: true })
      await expect
        .poll(() => page.evaluate<string>('document.activeElement.labels?.[0]?.textContent ?? ""'))
        .toContain('Name')
      await page.keyboard.type('Gate camera')
      expect(await name.inputValue()).toBe('Gate camera')
      await form.getByText('A new room').click()
      await form.getByLabel('Topic of the new room').fill('Gate')
      await form.getByRole('button', { name: 'Add device' }).click()
      await form.getByText('Streaming.').waitFor()
      await pages.closeDialog('Add device')
      const row = () => pages.row('Gate camera').innerText()
      await expect.poll(row).toContain('Joined')

      const [device] = await opened().call('devices.list')
      // It is shown by the topic of its room, also by a new one.
      await expect.poll(row).toMatch(/\bGate\b(?! camera)/)
      await opened().call('rooms.update', { room_id: device?.roomId ?? '', topic: 'North entrance' })
      await expect.poll(row).toContain('North entrance')
      expect(device?.options).toMatchObject({ assist_address: camera.smallUrl })
      const client = await newClient(opened(), 'Video wall')
      const listed = await client.outgoing('getOutgoingUsers')
      expect(listed).toMatchObject({ ret: 0, data: { total: 1, items: [{ userAddress: address }] } })
      expect(JSON.stringify(listed)).not.toContain(login.password)

      // Another login is tried before it is saved.
      const userId = device?.userId ?? ''
      const wrong = { userId, login_name: 'admin', login_password: 'wrong' }
      expect(await opened().call('devices.change_login', wrong)).toEqual({
        saved: false,
        accepted: false,
        kind: 'auth',
      })
      await pages.row('Gate camera').getByRole('checkbox').check()
      await page.getByRole('button', { name: 'Change logins' }).click()
      const logins = pages.dialog('Change the login of 1 device')
      await logins.getByLabel('User name').fill('admin')
      await logins.getByLabel('Password').fill(login.password)
      await logins.getByRole('button', { name: 'Test and save' }).click()
      await logins.getByText('Saved', { exact: true }).waitFor()
      await pages.closeDialog('Change the login of 1 device')
      await page.getByRole('button', { name: 'Clear selection' }).click()
      await expect.poll(row).toContain('Joined')

      camera.close()
      await expect.poll(row).not.toContain('Joined')
      const { port } = camera
      camera = await startTestCamera({ ...login, port })
      await expect.poll(row).toContain('Joined')
      const { spans } = await opened().call('devices.uptime', { userId })
      expect(spans.map(({ state }) => state)).toEqual(expect.arrayContaining(['up', 'down']))
      expect(spans.at(-1)).toMatchObject({ state: 'up', kind: null })
      await pages.row('Gate camera').click()
      const panel = page.getByRole('region', { name: 'Gate camera' })
      await panel.getByRole('row', { name: /^Frame rate \d/ }).waitFor()
      const quality = async () => (await opened().call('devices.quality', { userId })).now
      // The camera of the test sends nothing for a second where the machine is busy.
      await expect.poll(async () => (await quality())?.bitrate).toBeGreaterThan(1_000)
      expect(await quality()).toMatchObject({ loss: 0 })
      await panel
        .getByRole('listitem', { name: /down .*\(/ })
        .last()
        .focus()
      expect(await violations(page)).toEqual([])
      await page.keyboard.press('Escape')
      await pages.actOnRow('Gate camera', 'Remove')
      await pages.confirm('Remove')
      await page.getByText('No device yet').waitFor()
    } finally {
      camera.close()
    }
  })
}

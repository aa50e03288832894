import { expect, test } from 'vitest'
import { startCamera } from '../../support/camera/camera.ts'
import type { ConsoleUnderTest } from '../../support/sites/console-site.ts'
import { ConsolePages } from '../console-pages.ts'
import { newClient } from './clients.ts'

/** A real camera: added with a wrong password, corrected, joined, lost and back. */
export function deviceStories(opened: () => ConsoleUnderTest): void {
  test('a camera with a wrong password says so; corrected, its substream is found and it joins; lost, it returns', async () => {
    const login = { auth: 'digest', user: 'admin', password: 's3cret/pass' } as const
    let camera = await startCamera(login)
    const { page } = opened()
    const pages = new ConsolePages(page)
    try {
      const address = camera.url('/stream1')
      await pages.go('Devices')
      await pages.button('Add device').first().click()
      const form = pages.dialog('Add device')
      await form.getByLabel('RTSP address').fill(address.replace('rtsp://', 'rtsp://admin:wrong@'))
      await form.getByRole('button', { name: 'Next' }).click()
      await expect.poll(() => form.getByLabel('User name').inputValue()).toBe('admin')
      await form.getByRole('button', { name: 'Probe', exact: true }).click()
      await form.getByText('The device refused the login.').first().waitFor()

      await form.getByRole('button', { name: 'Correct the login' }).click()
      await form.getByLabel('Password').fill(login.password)
      await form.getByRole('button', { name: 'Probe', exact: true }).click()
      await form.getByText('Login accepted.').waitFor()
      await form
        .getByText(/H\.?264/)
        .first()
        .waitFor()
      await form.getByText('Use its substream, 160 × 90').click()
      await form.getByRole('button', { name: 'Next' }).click()
      await form.getByLabel('Name', { exact: true }).fill('Gate camera')
      await form.getByText('A new room').click()
      await form.getByLabel('Topic of the new room').fill('Gate')
      await form.getByRole('button', { name: 'Add device' }).click()
      await form.getByText('Streaming.').waitFor()
      await form.getByRole('button', { name: 'Close', exact: true }).click()
      const row = () => pages.row('Gate camera').innerText()
      await expect.poll(row).toContain('Joined')

      const [device] = await opened().call('devices.list')
      expect(device?.options).toMatchObject({ assist_address: camera.url('/stream2') })
      const client = await newClient(opened(), 'Video wall')
      const listed = await client.outgoing('getOutgoingUsers')
      expect(listed).toMatchObject({ ret: 0, data: { total: 1, items: [{ userAddress: address }] } })
      expect(JSON.stringify(listed)).not.toContain(login.password)

      await camera.kill()
      await expect.poll(row).not.toContain('Joined')
      const { port } = camera
      camera = await startCamera({ ...login, port })
      await expect.poll(row).toContain('Joined')
      await pages.actOnRow('Gate camera', 'Remove')
      await pages.confirm('Remove')
      await page.getByText('No device yet').waitFor()
    } finally {
      await camera.kill()
    }
  })
}

import { expect, test } from 'vitest'
import { defineComponent, h } from 'vue'
import AppMenu from '../../../renderer/kit/menu/AppMenu.vue'
import BackupsCard from '../../../renderer/console/pages/settings/BackupsCard.vue'
import FolderCard from '../../../renderer/console/pages/settings/FolderCard.vue'
import AttentionList from '../../../renderer/console/pages/overview/AttentionList.vue'
import { useAttention } from '../../../renderer/console/composables/site.ts'
import { eventually } from '../eventually.ts'
import { operator, says, show } from '../devices/operator-page.ts'

const page = defineComponent({
  setup() {
    const items = useAttention()
    return () => [h(AttentionList, { items: items.value }), h(FolderCard)]
  },
})

test('a site whose key is in a keychain of Windows says what a copy of its folder needs as well', async () => {
  const also = 'C:\\Users\\Ann\\AppData\\Roaming\\Roomdesk\\Local State'
  const client = await operator(undefined, {}, undefined, {
    place: 'keychain',
    file: 'seal.key.wrapped',
    unprotected: false,
    also,
  })
  show(page, client)
  await says('a copy can be opened only by this user on this machine')
  await says(`Also keep ${also}: without it seal.key.wrapped cannot be opened.`)
  expect(document.body.textContent).not.toContain('no keychain')
})

test('a session without a keychain is shown, and its site needs only its folder', async () => {
  const client = await operator(undefined, {}, undefined, {
    place: 'file',
    file: 'seal.key',
    unprotected: true,
    also: '',
  })
  show(page, client)
  await says('This session has no keychain')
  expect(document.body.textContent).not.toContain('Also keep')
})

test('headless, where the key is deliberately in a file, shows no warning', async () => {
  const client = await operator()
  show(page, client)
  await says('Data folder')
  expect((await client.call('overview.get')).attention.map(({ code }) => code)).toEqual(['simulatedNode'])
  expect(document.body.textContent).not.toMatch(/keychain|Also keep/)
})

test.each(['seal.key', 'seal.key.wrapped'])(
  "without a keychain a backup's dialog names the file that opens it: %s",
  async (file) => {
    const client = await operator(undefined, {}, undefined, { place: 'file', file, unprotected: true, also: '' })
    await client.call('backups.make')
    const shown = show(BackupsCard, client)
    const menu = await eventually(() => {
      const found = shown.findComponent(AppMenu)
      if (!found.exists()) throw new Error('no backup is shown')
      return found
    })
    menu.vm.$emit('choose', 'download')
    await says(`Keep the file ${file} of the data folder with it`)
  },
)

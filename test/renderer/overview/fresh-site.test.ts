import { mount } from '@vue/test-utils'
import { expect, onTestFinished, test } from 'vitest'
import { createMemoryHistory, createRouter, RouterView } from 'vue-router'
import { installConsole } from '../../../renderer/console/composables/useConsole.ts'
import { installTexts } from '../../../renderer/console/i18n/index.ts'
import OverviewPage from '../../../renderer/console/pages/OverviewPage.vue'
import type { ConsoleClient } from '../../../renderer/kit/transport/client.ts'
import { operator } from '../devices/operator-page.ts'
import { eventually } from '../eventually.ts'

const page = { template: '<i />' }

/** The overview of a new site, whose state comes once `told` is called; Rooms is loaded once `loaded` is. */
async function overviewOfNewSite() {
  const client = await operator()
  const { promise: state, resolve: told } = Promise.withResolvers<void>()
  const { promise: rooms, resolve } = Promise.withResolvers<typeof page>()
  const slow: ConsoleClient = {
    ...client,
    call: async (name, ...input) => {
      if (name === 'overview.get') await state
      return await client.call(name, ...input)
    },
  }
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/overview', component: OverviewPage },
      { path: '/rooms', component: () => rooms },
      { path: '/welcome', component: page },
      { path: '/:rest(.*)*', component: page },
    ],
  })
  await router.push('/overview')
  const shown = mount(RouterView, {
    attachTo: document.body,
    global: { plugins: [router, installTexts, (app) => installConsole(app, slow)] },
  })
  onTestFinished(() => shown.unmount())
  return { router, told, loaded: () => resolve(page), at: () => router.currentRoute.value.path }
}

test('The overview of a new site leads to the first run', async () => {
  const { told, at } = await overviewOfNewSite()
  told()
  await eventually(() => expect(at()).toBe('/welcome'))
})

test('A user who opens the rooms before the overview knows that the site is new gets there', async () => {
  const { router, told, loaded, at } = await overviewOfNewSite()
  const arrived = router.push('/rooms')
  told()
  await eventually(() => expect(document.querySelector('.tiles')).not.toBeNull())
  loaded()
  await arrived
  await eventually(() => expect(at()).toBe('/rooms'))
})

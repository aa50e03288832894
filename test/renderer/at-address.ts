import { mount } from '@vue/test-utils'
import { onTestFinished } from 'vitest'
import type { Plugin } from 'vue'
import { createMemoryHistory, createRouter, type Router } from 'vue-router'

/** Uses a composable on a page with this address, until the end of the test. Returns its result, and the router of the page. */
export async function atAddress<T>(
  address: string,
  use: () => T,
  plugins: readonly Plugin[] = [],
): Promise<{ used: T; router: Router }> {
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: '/:rest(.*)*', component: { template: '' } }],
  })
  await router.push(address)
  const found: T[] = []
  const page = mount(
    {
      setup() {
        found.push(use())
        return () => null
      },
    },
    { global: { plugins: [router, ...plugins] } },
  )
  onTestFinished(() => page.unmount())
  const [used] = found
  if (used === undefined) throw new Error('the page was not set up')
  return { used, router }
}

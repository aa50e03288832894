import { useEventListener } from '@vueuse/core'
import { shallowRef } from 'vue'

/** The browser's offer to install the page as an app. */
interface InstallOffer extends Event {
  prompt(): Promise<unknown>
}

declare global {
  interface WindowEventMap {
    /** Not in every browser. */
    beforeinstallprompt: InstallOffer
  }
}

/** Offer to install the page; null: the browser makes none, or the page is installed. */
const offer = shallowRef<InstallOffer | null>(null)

/** Keeps the browser's offer for the menu instead of a prompt. Call it once, early. */
export function awaitInstallOffer(): void {
  window.addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault()
    offer.value = event
  })
}

/** @param installed called after the page was installed */
export function useInstall(installed: () => void) {
  useEventListener(window, 'appinstalled', () => {
    offer.value = null
    installed()
  })

  function install(): void {
    // An offer can be used once.
    void offer.value?.prompt()
    offer.value = null
  }

  return { offer, install }
}

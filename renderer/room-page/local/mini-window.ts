import { onScopeDispose, ref, shallowRef } from 'vue'

declare global {
  interface Window {
    /** Document Picture-in-Picture (WICG), supported by some browsers. */
    readonly documentPictureInPicture?: { requestWindow(options: typeof size): Promise<Window> }
  }
}

const size = { width: 384, height: 280 }

/** Returns whether this browser has any kind of picture-in-picture. */
export function canOpenMiniWindow(): boolean {
  return window.documentPictureInPicture !== undefined || document.pictureInPictureEnabled
}

/** Picture-in-picture: a small window of the meeting over other programs. */
export function useMiniWindow() {
  /** Body of a window that shows the page's own elements; null: none is open. */
  const body = shallowRef<HTMLElement | null>(null)
  /** The video element is shown in picture-in-picture instead. */
  const showsVideo = ref(false)
  let opened: Window | undefined

  function closed(): void {
    opened = undefined
    body.value = null
    showsVideo.value = false
  }

  function close(): void {
    opened?.close()
    if (document.pictureInPictureElement !== null) void document.exitPictureInPicture()
    closed()
  }

  /**
   * Opens or closes the window. `video` is used if the browser has no window for elements. @throws DOMException if the
   * browser refuses
   */
  async function toggle(video: HTMLVideoElement | null): Promise<void> {
    if (body.value !== null || showsVideo.value) return close()
    const api = window.documentPictureInPicture
    if (api !== undefined) {
      opened = await api.requestWindow(size)
      opened.addEventListener('pagehide', closed, { once: true })
      dress(opened.document)
      body.value = opened.document.body
    } else if (video !== null) {
      await video.requestPictureInPicture()
      video.addEventListener('leavepictureinpicture', closed, { once: true })
      showsVideo.value = true
    }
  }

  onScopeDispose(close)
  return { body, showsVideo, toggle, close }
}

/** Applies the page's styles, colours and language to a new document. */
function dress(other: Document): void {
  for (const sheet of document.querySelectorAll<HTMLElement>('link[rel="stylesheet"], style')) {
    const copy = sheet.cloneNode(true)
    if (copy instanceof HTMLLinkElement && sheet instanceof HTMLLinkElement) copy.href = sheet.href
    other.head.append(copy)
  }
  other.title = document.title
  other.documentElement.lang = document.documentElement.lang
  other.documentElement.className = document.documentElement.className
}

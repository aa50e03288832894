import { LivePlayer, type PlayerState } from './live-player.ts'
import { sourceOf } from './source.ts'
import { textsOf } from './texts.ts'

const { lang, texts } = textsOf(location.search, navigator.languages)
document.documentElement.lang = lang
const element = <T extends HTMLElement>(id: string, type: new () => T): T => {
  const found = document.getElementById(id)
  if (!(found instanceof type)) throw new Error(`the page has no ${id}`)
  return found
}
const video = element('video', HTMLVideoElement)
const notice = element('notice', HTMLElement)
const bar = element('bar', HTMLElement)
const badge = element('badge', HTMLElement)
const name = element('name', HTMLElement)
const sound = element('sound', HTMLButtonElement)

sound.textContent = texts.soundOn
sound.addEventListener('click', () => {
  video.muted = false
  sound.hidden = true
  void video.play()
})
video.addEventListener('volumechange', () => {
  if (!video.muted) sound.hidden = true
})

const source = sourceOf(location)
if (source.kind === 'none') notice.textContent = texts[source.problem]
else if (source.kind === 'file') playFile(source.url)
else playLive(source.base)

function playFile(url: string): void {
  video.autoplay = false
  video.controls = true
  video.addEventListener('error', () => {
    video.hidden = true
    notice.textContent = texts.noFile
  })
  video.src = url
}

function playLive(base: string): void {
  // Autoplay is allowed without sound only.
  video.muted = true
  let wantsSound = true
  const states: Record<PlayerState, string> = { ...texts, living: '' }
  const player = new LivePlayer(video, base, {
    state(state) {
      notice.textContent = states[state]
      const lives = state === 'living'
      bar.hidden = !lives
      badge.textContent = texts.live
      video.controls = lives
      document.body.dataset.state = state
    },
    named(text) {
      name.textContent = text
      document.title = text === '' ? 'Roomdesk' : `${text} – Roomdesk`
    },
    silent(silent) {
      if (wantsSound && !silent && video.muted) sound.hidden = false
      if (silent) video.muted = true
      wantsSound = false
    },
  })
  notice.textContent = texts.waiting
  // WebKit ignores `autoplay` for MediaSource; if the browser requires a click, a button is shown.
  const begin = (): Promise<void> =>
    video.play().catch((error: unknown) => {
      if (!(error instanceof DOMException) || error.name !== 'NotAllowedError') return
      sound.textContent = texts.play
      sound.hidden = false
    })
  video.addEventListener('canplay', () => video.paused && void begin(), { once: true })
  video.addEventListener('playing', () => {
    document.body.dataset.firstPicture ??= String(Math.round(performance.now()))
  })
  // Latency in seconds, for measurements and support.
  setInterval(() => {
    const { latency } = player
    if (latency !== undefined) document.body.dataset.latency = latency.toFixed(1)
  }, 1_000)
  void player.run()
}

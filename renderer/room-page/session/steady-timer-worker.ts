/** Runs timers for a page: answers `[id, milliseconds]` with `id` after that time. */
addEventListener('message', ({ data }: MessageEvent<[number, number]>) => {
  const [id, milliseconds] = data
  setTimeout(() => postMessage(id), milliseconds)
})

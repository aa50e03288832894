/** Sleeps for a page: `[id, milliseconds]` is answered with `id`. */
addEventListener('message', ({ data }: MessageEvent<[number, number]>) => {
  const [id, milliseconds] = data
  setTimeout(() => postMessage(id), milliseconds)
})

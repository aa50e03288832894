/** The package has types for its whole build only; the light one has the same class. */
declare module 'hls.js/light' {
  export { default } from 'hls.js'
}

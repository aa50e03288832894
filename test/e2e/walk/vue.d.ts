/** Components in the table of pages, of which the walk only reads the addresses and roles. */
declare module '*.vue' {
  const component: object
  export default component
}

// What the page uses of htm, for the check of types.
declare const htm: { bind(h: any): (parts: TemplateStringsArray, ...given: any[]) => any };
export default htm;
